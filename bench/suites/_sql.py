"""The three lineage queries as one would write them by hand in Spark SQL, each to Parquet.

They say of every output its value and the positions that explain it. What explains a true
conjunction over all cases is every case: like our record, the query keeps that factorised, as the
heads of the cases with the range of outputs that each was the head for.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

__all__ = ["SQL"]


def _window(session: Any, log: str, folder: Path) -> None:
    """The product of three in a row; a zero alone explains a product of zero."""
    session.read.parquet(log).createOrReplaceTempView("log")
    rows = session.sql(
        """
        with three as (
          select position, value as x, lead(value, 1) over w as y, lead(value, 2) over w as z
          from log window w as (order by position)
        )
        select position, x * y * z != 0 as value,
          case when x = 0 then array(position)
               when y = 0 then array(position + 1)
               when z = 0 then array(position + 2)
               else array(position, position + 1, position + 2) end as lineage
        from three where z is not null
        """
    )
    rows.write.mode("overwrite").parquet(str(folder / "outputs"))


_STEP = """
  case when state = 0 and activity = 'a' then 1
       when state = 1 and activity = 'b' then 2
       when state = 2 and activity = 'c' then 3
       when state = 3 and activity = 'b' then 2
       when state = 3 and activity = 'd' then 4
       else 5 end
"""
_FOLD = f"""
  aggregate(
    events,
    named_struct(
      'state', 0,
      'way', array(0),
      'ats', cast(array() as array<bigint>),
      'out', cast(array() as array<struct<position: bigint, value: boolean,
                                           lineage: array<bigint>>>)
    ),
    (acc, event) -> transform(
      transform(
        array({_STEP.replace("state", "acc.state").replace("activity", "event.activity")}),
        to -> named_struct('to', to, 'seen', cast(array_position(acc.way, to) as int))),
      s -> transform(
        array(if(s.seen > 0, slice(acc.ats, 1, s.seen - 1),
                 concat(acc.ats, array(event.position)))),
        ats -> named_struct(
          'state', s.to,
          'way', if(s.seen > 0, slice(acc.way, 1, s.seen), concat(acc.way, array(s.to))),
          'ats', ats,
          'out', concat(acc.out, array(named_struct(
            'position', event.position, 'value', s.to != 5, 'lineage', ats)))
        ))[0])[0],
    acc -> acc.out
  )
"""


def _lifecycle(session: Any, log: str, folder: Path) -> None:
    """A state machine a case; then, over all cases in order, the first that appeared and failed."""
    session.read.parquet(log).createOrReplaceTempView("log")
    inner = session.sql(
        f"""
        with cases as (
          select case, sort_array(collect_list(struct(position, activity))) as events
          from log group by case
        ), folded as (
          select case, events[0].position as appeared, {_FOLD} as out from cases
        )
        select case, appeared, o.position, o.value, o.lineage,
          if(i + 1 < size(out), out[i + 1].position - 1, null) as head_until
        from folded lateral view posexplode(out) as i, o
        """
    )
    inner.write.mode("overwrite").parquet(str(folder / "inner"))
    session.read.parquet(str(folder / "inner")).createOrReplaceTempView("inner_outputs")
    rows = session.sql(
        """
        with picked as (
          select position, case,
            min(if(value, null, struct(appeared, case))) over w as pick
          from inner_outputs
          window w as (order by position rows between unbounded preceding and current row)
        )
        select position, pick is null as value,
          last_value(if(pick.case = case, position, null), true) over (
            order by position rows between unbounded preceding and current row) as head
        from picked
        """
    )
    rows.write.mode("overwrite").parquet(str(folder / "outputs"))


def _ltl(session: Any, log: str, folder: Path) -> None:
    """Whenever negative, then a and a: the first failure from each event on."""
    session.read.parquet(log).createOrReplaceTempView("log")
    rows = session.sql(
        """
        with next as (
          select position, negative, lead(a, 1) over w as a1, lead(a, 2) over w as a2
          from log window w as (order by position)
        ), failed as (
          select position,
            case when negative and not (a1 and a2)
                 then struct(position as at, if(a1, position + 2, position + 1) as because)
                 else null end as failure
          from next where a2 is not null
        ), following as (
          select position, min(failure) over (
            order by position desc rows between unbounded preceding and current row) as failure
          from failed
        )
        select position, false as value, array(failure.at, failure.because) as lineage
        from following where failure is not null
        """
    )
    rows.write.mode("overwrite").parquet(str(folder / "outputs"))


SQL: dict[str, Callable[[Any, str, Path], None]] = {
    "window": _window,
    "lifecycle": _lifecycle,
    "ltl": _ltl,
}
"""From a session, the files of a log of the record, and a folder for the outputs."""

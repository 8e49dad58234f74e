// Writes      Takes the values of some events away; what leads to what stays
// Parameters  $first, $last: keys; $value: what stands for an output's value, or null for inputs;
//             $kind: likewise its kind
// Plan        unique index range seek
MATCH (e:Event) USING INDEX SEEK e:Event(key)
WHERE $first <= e.key <= $last
SET e.case = null, e.case_digest = null, e.activity = null, e.activity_digest = null,
  e.time = null, e.time_digest = null, e.value = $value, e.value_digest = null, e.kind = $kind
RETURN count(e) AS erased

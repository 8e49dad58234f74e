// Writes      The input events of a chunk
// Parameters  $rows: list of [key, case, case_digest, activity, activity_digest, time, time_digest]
// Plan        CREATE: the chunk's marker says that they are not there yet
UNWIND $rows AS row
CREATE (e:Event:Input {key: row[0], case: row[1], case_digest: row[2], activity: row[3],
  activity_digest: row[4], time: row[5], time_digest: row[6]})
RETURN count(e) AS written

// What the graph promises: everything is stored once, and is found by its key.
// Safe to run again.
CREATE CONSTRAINT event_key IF NOT EXISTS FOR (e:Event) REQUIRE e.key IS UNIQUE;
CREATE CONSTRAINT chunk_id IF NOT EXISTS FOR (c:Chunk) REQUIRE c.id IS UNIQUE;
CREATE CONSTRAINT run_id IF NOT EXISTS FOR (r:Run) REQUIRE r.id IS UNIQUE;
CREATE CONSTRAINT chain_digest IF NOT EXISTS FOR (c:Chain) REQUIRE c.digest IS UNIQUE;
CREATE CONSTRAINT processor_id IF NOT EXISTS FOR (p:Processor) REQUIRE p.id IS UNIQUE;
CREATE CONSTRAINT end_key IF NOT EXISTS FOR (e:End) REQUIRE e.key IS UNIQUE;
CREATE CONSTRAINT end_id IF NOT EXISTS FOR (e:End) REQUIRE e.id IS UNIQUE;
CREATE CONSTRAINT schema_name IF NOT EXISTS FOR (s:Schema) REQUIRE s.name IS UNIQUE;
CREATE CONSTRAINT counter_name IF NOT EXISTS FOR (c:Counter) REQUIRE c.name IS UNIQUE;
CREATE CONSTRAINT contribution_id IF NOT EXISTS FOR (c:Contribution) REQUIRE c.id IS UNIQUE;
// Logs and streams are collections of events; one row of numbers serves both.
CREATE CONSTRAINT collection_id IF NOT EXISTS FOR (c:Collection) REQUIRE c.id IS UNIQUE;
CREATE CONSTRAINT collection_no IF NOT EXISTS FOR (c:Collection) REQUIRE c.no IS UNIQUE;
CREATE INDEX span_place IF NOT EXISTS FOR (s:Span) ON (s.no, s.lo);
CREATE INDEX input_case IF NOT EXISTS FOR (e:Input) ON (e.case);
CREATE INDEX input_activity IF NOT EXISTS FOR (e:Input) ON (e.activity);
CREATE INDEX input_time IF NOT EXISTS FOR (e:Input) ON (e.time);

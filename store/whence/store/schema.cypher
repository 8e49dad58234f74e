// What the graph promises: an event is stored once, and is found by its key.
// Safe to run again.
CREATE CONSTRAINT event_key IF NOT EXISTS FOR (e:Event) REQUIRE e.key IS UNIQUE;

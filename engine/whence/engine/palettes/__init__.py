"""Processors for one field each: state machines (`fsm`) and temporal logic (`ltl`)."""

"""One kernel a file, named as its processor's file in `processors` or a palette."""

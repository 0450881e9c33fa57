"""The rules of gitmem, pure: no I/O, no clock, no randomness. Time and bytes are passed in."""

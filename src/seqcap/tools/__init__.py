"""The commands that a person calls, one module each: files of captions, images or runs come in, tables and captions go
out; may import every room but `cli`."""

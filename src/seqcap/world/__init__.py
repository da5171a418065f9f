"""The generated world: scenes and clips, captions of them in three languages, and a checker of what captions say."""

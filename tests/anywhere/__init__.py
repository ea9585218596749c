"""`make anywhere`: the parts of the suite that could notice where they run, under each of the settings that the project promises."""

"""The commands, one file each; `manage.py help` lists them."""

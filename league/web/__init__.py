"""The pages by subject: views, forms, and the texts and drawings that they show."""

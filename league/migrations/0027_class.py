"""Bots of students, and their matches, that only the class sees."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('league', '0026_arena'),
    ]

    operations = [
        migrations.AddField("bot", "in_class", models.BooleanField(db_default=False, default=False)),
        migrations.AddField("match", "in_class", models.BooleanField(db_default=False, default=False)),
    ]

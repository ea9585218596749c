"""An index of all names of a holder, in use and given up: closing an account changes them."""

from django.db import migrations, models

from league.service.migrating import AddIndexMeanwhile, Forget


class Migration(migrations.Migration):

    atomic = False
    dependencies = [
        ('league', '0024_operators'),
    ]

    operations = [
        AddIndexMeanwhile("takenname", models.Index(fields=["holder"], name="name_of_holder")),
        Forget("takenname", indexes=("name_given_up",)),
    ]

"""What a search for mistakes has judged so far, so that it goes on where it stopped."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("league", "0013_studies")]

    operations = [
        migrations.AddField(
            model_name="mistakesearch",
            name="judged",
            field=models.JSONField(db_default=models.Value({}, models.JSONField()), default=dict),
        ),
    ]

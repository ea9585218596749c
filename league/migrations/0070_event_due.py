from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("league", "0069_audience_of_old_rows")]
    operations = [migrations.AddField(model_name="event", name="due", field=models.DateTimeField(null=True))]

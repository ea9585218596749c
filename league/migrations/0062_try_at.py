from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('league', '0061_tries_of_old_rows'),
    ]

    operations = [
        migrations.AddField(
            model_name='try',
            name='at',
            field=models.JSONField(null=True),
        ),
    ]

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('league', '0035_sums_as_rows'),
    ]

    operations = [
        migrations.AddField(
            model_name='match',
            name='request',
            field=models.CharField(blank=True, db_default='', default='', max_length=64),
        ),
        migrations.AddField(
            model_name='tournament',
            name='request',
            field=models.CharField(blank=True, db_default='', default='', max_length=64),
        ),
    ]

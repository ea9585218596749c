from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('league', '0076_party_style'),
    ]

    operations = [
        migrations.AddField(
            model_name='table',
            name='advice',
            field=models.CharField(blank=True, db_default='', default='', max_length=400),
        ),
        migrations.AddField(
            model_name='table',
            name='advice_asked',
            field=models.PositiveIntegerField(null=True),
        ),
    ]

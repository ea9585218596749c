from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('league', '0044_match_logs'),
    ]

    operations = [
        migrations.AddField(
            model_name='rating',
            name='estimated',
            field=models.BooleanField(db_default=False, default=False),
        ),
        migrations.AddField(
            model_name='poolsums',
            name='fitted',
            field=models.PositiveBigIntegerField(db_default=0, default=0),
        ),
        migrations.AddField(
            model_name='poolsums',
            name='fitted_until',
            field=models.DateTimeField(null=True),
        ),
        migrations.AddField(
            model_name='poolsums',
            name='ranked',
            field=models.PositiveBigIntegerField(db_default=0, default=0),
        ),
        migrations.AddField(
            model_name='poolsums',
            name='ranked_until',
            field=models.DateTimeField(null=True),
        ),
        migrations.AddField(
            model_name='poolsums',
            name='keeper',
            field=models.CharField(blank=True, db_default='', default='', max_length=100),
        ),
        migrations.AddField(
            model_name='poolsums',
            name='keeper_until',
            field=models.DateTimeField(null=True),
        ),
    ]

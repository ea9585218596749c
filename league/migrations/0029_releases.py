from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('league', '0028_pauses'),
    ]

    operations = [
        migrations.AddField(
            model_name='scheduler',
            name='commit',
            field=models.CharField(blank=True, db_default='', max_length=40),
        ),
        migrations.AddField(
            model_name='worker',
            name='commit',
            field=models.CharField(blank=True, db_default='', max_length=40),
        ),
        migrations.AddField(
            model_name='worker',
            name='rules',
            field=models.JSONField(db_default=models.Value({}, models.JSONField()), default=dict),
        ),
    ]

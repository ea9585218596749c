from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('league', '0050_listed'),
    ]

    operations = [
        migrations.CreateModel(
            name='Change',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('key', models.CharField(max_length=40)),
                ('number', models.BigIntegerField()),
            ],
            options={
                'indexes': [models.Index(fields=['key'], name='change_key')],
            },
        ),
    ]

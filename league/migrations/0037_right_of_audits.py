from django.db import migrations


class Migration(migrations.Migration):

    dependencies = [
        ('league', '0036_requests'),
    ]

    operations = [
        migrations.AlterModelOptions(
            name='player',
            options={'permissions': [('void', 'void'), ('rerun', 'rerun'), ('pause', 'pause'), ('ban', 'ban'), ('quota', 'quota'), ('embargo', 'embargo'), ('audit', 'audit')]},
        ),
    ]

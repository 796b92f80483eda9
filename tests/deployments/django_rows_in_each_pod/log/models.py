from django.db import models


class Line(models.Model):
    text = models.TextField()

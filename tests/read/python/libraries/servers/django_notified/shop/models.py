from django.db import models


class Order(models.Model):
    text = models.TextField()

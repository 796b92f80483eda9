from django.db import models


class OrderEvent(models.Model):
    kind = models.CharField(max_length=40)
    payload = models.JSONField()
    created = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["pk"]

"""What the API's libraries read from Django's settings."""

REST_FRAMEWORK = {"DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema"}
SPECTACULAR_SETTINGS = {"TITLE": "Tute League", "VERSION": "1", "OAS_VERSION": "3.1.0"}

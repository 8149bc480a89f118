"""Settings shared by all tests: the same examples every time, no clock in the verdict."""

from hypothesis import HealthCheck, settings

settings.register_profile(
    "nearly",
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
settings.load_profile("nearly")

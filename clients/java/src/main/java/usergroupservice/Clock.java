package usergroupservice;

import java.time.Duration;
import java.time.Instant;

/** Source of the time. Tests replace it. */
class Clock {
  Instant now() {
    return Instant.now();
  }

  /** Returns nanoseconds from an arbitrary start. Unlike {@code now}, it never jumps when the system clock is set. */
  long nanos() {
    return System.nanoTime();
  }

  void sleep(Duration duration) throws InterruptedException {
    Thread.sleep(duration.toMillis(), duration.toNanosPart() % 1_000_000);
  }
}

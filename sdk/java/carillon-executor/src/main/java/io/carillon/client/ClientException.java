package io.carillon.client;

import java.util.List;

/** What a server answered instead of a result. The classes within are the kinds. */
public class ClientException extends RuntimeException {
  private final Details details;

  ClientException(Details details) {
    super(details.message(), details.cause());
    this.details = details;
  }

  /** What is known of an error. */
  record Details(int status, String code, String message, String field, long after, String requestId, Long date, Throwable cause) {
    static Details of(String message) {
      return new Details(0, "", message, "", 0, "", null, null);
    }
  }

  /** The status of HTTP; 0 without an answer. */
  public int status() {
    return details.status();
  }

  /** The code of the API, such as "invalid"; "" if another program answered. */
  public String code() {
    return details.code();
  }

  /** The first invalid field, such as "params.user"; "" if there is none. */
  public String field() {
    return details.field();
  }

  /** The seconds after which to ask again; 0 if unknown. */
  public long after() {
    return details.after();
  }

  /** The id under which the server's log has details. */
  public String requestId() {
    return details.requestId();
  }

  /** The time of the answer in milliseconds; null if unknown. */
  Long date() {
    return details.date();
  }

  /** The request is not valid. {@link #field()} names what is wrong. */
  public static final class InvalidParams extends ClientException {
    InvalidParams(Details details) {
      super(details);
    }
  }

  /** The token is missing, unknown, or may not do this. */
  public static final class Forbidden extends ClientException {
    Forbidden(Details details) {
      super(details);
    }
  }

  /** The job or the run does not exist, or the token may not see it. */
  public static final class NotFound extends ClientException {
    NotFound(Details details) {
      super(details);
    }
  }

  /**
   * A run of the job has the key, and was given something else; or a reset was wanted, and that run has not ended,
   * or another user started it.
   */
  public static final class KeyInUse extends ClientException {
    private final String run;
    private final List<String> fields;

    KeyInUse(Details details, String run, List<String> fields) {
      super(details);
      this.run = run;
      this.fields = fields;
    }

    /** The id of the run that has the key. */
    public String run() {
      return run;
    }

    /** The fields that differ, such as "params". */
    public List<String> fields() {
      return fields;
    }
  }

  /** The run cannot be cancelled because it has ended. */
  public static final class Ended extends ClientException {
    Ended(Details details) {
      super(details);
    }
  }

  /** A limit is reached. {@link #after()} is how long to wait, if the server knows. */
  public static final class TooMany extends ClientException {
    TooMany(Details details) {
      super(details);
    }
  }

  /**
   * No server answered, a part of the system is away, or the thread was interrupted. It is unknown whether
   * there is a run.
   */
  public static final class Unavailable extends ClientException {
    Unavailable(Details details) {
      super(details);
    }
  }

  /** A run has not ended in the time of a wait. The run goes on. */
  public static final class WaitTimeout extends ClientException {
    WaitTimeout(Details details) {
      super(details);
    }
  }

  /** The error of an argument, before anything is sent. */
  static InvalidParams invalid(String field, String message) {
    return new InvalidParams(new Details(0, "invalid", field + ": " + message, field, 0, "", null, null));
  }

  /** The error of an answer. known says that it comes from Carillon. */
  static ClientException of(Details d, boolean known, boolean cancel) {
    if (List.of(502, 503, 504).contains(d.status())) {
      return new Unavailable(d);
    }
    if (d.status() == 429) {
      return new TooMany(d);
    }
    if (!known) {
      return new ClientException(d);
    }
    return switch (d.status()) {
      case 400 -> new InvalidParams(d);
      case 401, 403 -> new Forbidden(d);
      case 404 -> new NotFound(d);
      case 409 -> cancel ? new Ended(d) : new ClientException(d);
      default -> new ClientException(d);
    };
  }
}

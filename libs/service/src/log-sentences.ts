import { pino } from 'pino';

// The level `error`. See https://getpino.io/#/docs/api?id=levels.
const errorLevel = 50;

/** The fields that every log line has, and those that have their own place in the sentence. */
interface LogLine {
  level: number;
  time: number;
  service?: string;
  msg?: string;
  /** The message of an alarm. */
  detail?: string;
  err?: { message: string; stack?: string };
}

/**
 * Returns a JSON log line as a sentence for a person at a terminal. Example:
 * `14:02:51 error platform-connector: alarm raised. The disk is nearly full. (key: disk_low)`
 */
export function describeLogLine(json: string): string {
  const { level, time, service, msg, detail, err, ...facts } = JSON.parse(json) as LogLine; // Safe cast: pino wrote the line.
  const clock = new Date(time).toTimeString().slice(0, 8);
  // A person needs the stack only of errors that the service cannot mend by itself.
  const error = level >= errorLevel ? (err?.stack ?? err?.message) : err?.message;
  const text = [msg, detail, error].filter((part) => part !== undefined && part !== '').join('. ');
  const details = Object.entries(facts).map(([name, value]) => `${name}: ${describeValue(value)}`);
  const suffix = details.length > 0 ? ` (${details.join(', ')})` : '';
  return `${clock} ${pino.levels.labels[level] ?? level} ${service ?? ''}: ${text}${suffix}\n`;
}

function describeValue(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

import { Controller, Module, type INestMicroservice } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { defineContract, natsUsers, ServiceError } from '@stream-events/contracts';
import type { NatsConnection } from '@nats-io/transport-node';
import { eventually, startTestNats, type TestNats } from '@stream-events/testing';
import { IsIn, IsInt } from 'class-validator';
import { ErrorResponder } from './error-responder.filter.js';
import { Handles } from './handles.js';
import { NatsServerStrategy } from './nats-server.strategy.js';
import { maxWaitingRequests, ReplyTimeoutError, RequestClient } from './request-client.js';

class Question {
  @IsInt()
  number!: number;
}

class Answer {
  @IsInt()
  double!: number;
}

class Failure {
  @IsIn(['conflict', 'not_found', 'unavailable', 'invalid', 'forbidden', 'unexpected', 'lost'])
  kind!: 'conflict' | 'not_found' | 'unavailable' | 'invalid' | 'forbidden' | 'unexpected' | 'lost';
}

const shared = { errors: ['invalid', 'conflict', 'not_found'], timeoutMs: 20_000 } as const;
const double = defineContract({
  subject: 'request.events.double',
  request: Question,
  reply: Answer,
  ...shared,
});
const fail = defineContract({ subject: 'request.events.fail', request: Failure, reply: Answer, ...shared });
const hang = defineContract({ subject: 'request.events.hang', request: Question, reply: Answer, errors: [], timeoutMs: 200 }); // prettier-ignore
const drift = defineContract({
  subject: 'request.events.drift',
  request: Question,
  reply: Answer,
  ...shared,
});
const absent = defineContract({
  subject: 'request.events.absent',
  request: Question,
  reply: Answer,
  ...shared,
});
const contracts = [double, fail, hang, drift];

const hanging: (() => void)[] = [];

@Controller()
class EventsController {
  @Handles(double)
  async double({ number }: Question): Promise<Answer> {
    return Promise.resolve({ double: number * 2 });
  }

  @Handles(fail)
  async fail({ kind }: Failure): Promise<Answer> {
    if (kind === 'unexpected') throw new TypeError('the password is hunter2');
    if (kind === 'lost') return Promise.reject(new Error('connection lost'));
    const extras = kind === 'invalid' ? { errors: { name: ['is taken'] } } : { retryAfterSeconds: 9 };
    throw new ServiceError(kind, `it is ${kind}`, extras);
  }

  @Handles(hang)
  async hang(_request: Question): Promise<Answer> {
    await new Promise<void>((resolve) => hanging.push(resolve));
    return { double: 0 };
  }

  @Handles(drift)
  async drift(_request: Question): Promise<Answer> {
    return Promise.resolve(JSON.parse('{"double":"two"}') as Answer);
  }
}

@Module({ controllers: [EventsController] })
class EventsModule {}

class RecordingLogger {
  readonly lines: { level: string; fields: Record<string, unknown> }[] = [];
  error = (fields: object) => this.note('error', fields);
  info = (fields: object) => this.note('info', fields);
  warn = (fields: object) => this.note('warn', fields);
  debug = (fields: object) => this.note('debug', fields);

  private note(level: string, fields: object): void {
    this.lines.push({ level, fields: { ...fields } });
  }
}

let nats: TestNats;
let logger: RecordingLogger;
let service: INestMicroservice;
let client: RequestClient;

beforeAll(async () => {
  nats = await startTestNats(Object.values(natsUsers));
  const options = { urls: [nats.urlFor('events')], name: 'events', queue: 'events', contracts };
  service = await NestFactory.createMicroservice(EventsModule, {
    strategy: new NatsServerStrategy(options),
    logger: false,
    abortOnError: false,
  });
  logger = new RecordingLogger();
  const translate = (error: unknown): unknown =>
    error instanceof Error && error.message === 'connection lost'
      ? new ServiceError('unavailable', 'The database is not available.')
      : error;
  service.useGlobalFilters(new ErrorResponder(logger, translate));
  await service.listen();
  // Requests come through another connection, so wait until the broker knows the subscriptions.
  await service.unwrap<NatsConnection>().flush();
  client = new RequestClient({ urls: [nats.urlFor('gateway')], name: 'gateway' });
  await client.connect();
});

afterAll(async () => {
  for (const release of hanging) release();
  await client.close();
  await service.close();
  await nats.stop();
});

beforeEach(() => {
  logger.lines.length = 0;
});

/** Returns a request's error, and how long the request took. */
async function failureOf(request: Promise<unknown>): Promise<{ error: ServiceError; afterMs: number }> {
  const startedAt = Date.now();
  const error = await request.then(
    () => new Error('it succeeded'),
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof ServiceError)) throw error;
  return { error, afterMs: Date.now() - startedAt };
}

describe(RequestClient.name, () => {
  describe('request', () => {
    it('returns the reply as an instance of its class', async () => {
      const answer = await client.request(double, { number: 21 });

      expect(answer).toBeInstanceOf(Answer);
      expect(answer.double).toBe(42);
    });

    it('gives each of many concurrent requests its own reply', async () => {
      const numbers = Array.from({ length: 200 }, (_, index) => index);

      const answers = await Promise.all(numbers.map((number) => client.request(double, { number })));

      expect(answers.map((answer) => answer.double)).toEqual(numbers.map((number) => number * 2));
    });

    it('throws all errors when the request does not match its class', async () => {
      // Another version of a service may send what our types forbid.
      const request = JSON.parse('{"number":"21"}') as Question;

      const { error } = await failureOf(client.request(double, request));

      expect(error).toMatchObject({ code: 'invalid', errors: { number: ['must be an integer number'] } });
    });

    it.each(['conflict', 'not_found', 'unavailable'] as const)(
      'throws the error that the service replied: %s',
      async (kind) => {
        const { error } = await failureOf(client.request(fail, { kind }));

        expect(error).toMatchObject({ code: kind, detail: `it is ${kind}`, retryAfterSeconds: 9 });
        expect(error).not.toBeInstanceOf(ReplyTimeoutError);
      },
    );

    it('throws internal for an unexpected error of the service, without its message', async () => {
      const { error } = await failureOf(client.request(fail, { kind: 'unexpected' }));

      expect(error.code).toBe('internal');
      expect(JSON.stringify(error.toMessage())).not.toContain('hunter2');
      expect(logger.lines).toMatchObject([{ level: 'error', fields: { err: { name: 'TypeError' } } }]);
    });

    it('throws internal for an error that the contract does not declare', async () => {
      const { error } = await failureOf(client.request(fail, { kind: 'forbidden' }));

      expect(error).toMatchObject({ code: 'internal', cause: { cause: { code: 'forbidden' } } });
    });

    it('throws the error that the service translates its own error into', async () => {
      const { error } = await failureOf(client.request(fail, { kind: 'lost' }));

      expect(error).toMatchObject({ code: 'unavailable', detail: 'The database is not available.' });
    });

    it('throws internal, without blaming the caller, when the reply violates its contract', async () => {
      const { error } = await failureOf(client.request(drift, { number: 1 }));

      expect(error.code).toBe('internal');
      expect(error.errors).toBeUndefined();
    });

    it('throws ReplyTimeoutError when no reply arrives in time', async () => {
      const { error, afterMs } = await failureOf(client.request(hang, { number: 1 }));

      expect(error).toBeInstanceOf(ReplyTimeoutError);
      expect(error.code).toBe('unavailable');
      expect(afterMs).toBeGreaterThanOrEqual(hang.timeoutMs - 20);
    });

    it('throws unavailable immediately when no instance of the service runs', async () => {
      const { error, afterMs } = await failureOf(client.request(absent, { number: 1 }));

      expect(error.code).toBe('unavailable');
      expect(error).not.toBeInstanceOf(ReplyTimeoutError);
      expect(afterMs).toBeLessThan(absent.timeoutMs / 2);
    });

    it('throws unavailable immediately while too many requests of the same kind wait, and works again afterwards', async () => {
      let ended = 0;
      const waiting = Array.from({ length: maxWaitingRequests }, () =>
        failureOf(client.request(hang, { number: 1 })).then(() => (ended += 1)),
      );

      const { error } = await failureOf(client.request(hang, { number: 1 }));

      // The error came before any other request had ended.
      expect(ended).toBe(0);
      expect((await client.request(double, { number: 1 })).double).toBe(2);
      expect(error).toMatchObject({
        code: 'unavailable',
        detail: expect.stringMatching(/too many requests/i),
      });
      expect(error).not.toBeInstanceOf(ReplyTimeoutError);
      await Promise.all(waiting);
      for (const release of hanging.splice(0)) release();
      expect(await eventually(() => client.request(double, { number: 4 }))).toMatchObject({ double: 8 });
    });

    it('passes the correlation id to the logs of the service', async () => {
      await failureOf(client.request(fail, { kind: 'conflict' }, { correlationId: 'request-1' }));
      await failureOf(client.request(fail, { kind: 'conflict' }));

      expect(logger.lines.map((line) => line.fields.correlationId)).toEqual(['request-1', undefined]);
    });

    it('throws unavailable immediately while NATS is down, and works again when NATS is back', async () => {
      await nats.kill();
      await eventually(() => expect(client.ping()).rejects.toBeDefined());

      const { error, afterMs } = await failureOf(client.request(double, { number: 1 }));
      expect(error.code).toBe('unavailable');
      expect(error).not.toBeInstanceOf(ReplyTimeoutError);
      expect(afterMs).toBeLessThan(double.timeoutMs / 2);

      await nats.restart();
      const answer = await eventually(() => client.request(double, { number: 4 }));
      expect(answer.double).toBe(8);
      await client.ping();
    });
  });
});

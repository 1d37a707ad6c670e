import { Controller, Module, type INestMicroservice, type Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { MessagePattern } from '@nestjs/microservices';
import {
  defineContract,
  ingestStreamName,
  ingestSubject,
  natsUsers,
  ServiceError,
  type Contract,
} from '@stream-events/contracts';
import { eventually, startTestNats, type TestNats } from '@stream-events/testing';
import { IsInt } from 'class-validator';
import { jetstreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { connectNats } from './connection.js';
import { ErrorResponder } from './error-responder.filter.js';
import { Handles } from './handles.js';
import { maxRequestsInProgress, NatsServerStrategy } from './nats-server.strategy.js';
import { ReplyTimeoutError, RequestClient } from './request-client.js';

class Count {
  @IsInt()
  value!: number;
}

// The limit covers requests that wait while the tests prepare the next step.
const shared = { request: Count, reply: Count, errors: [], timeoutMs: 50_000 };
const one = defineContract({ subject: 'request.events.one', ...shared });
const two = defineContract({ subject: 'request.events.two', ...shared });

@Controller()
class HandlesOne {
  @Handles(one)
  async handle(count: Count): Promise<Count> {
    return Promise.resolve(count);
  }
}

@Controller()
class HandlesOneAgain {
  @Handles(one)
  async handle(count: Count): Promise<Count> {
    return Promise.resolve(count);
  }
}

@Controller()
class HandlesSomething {
  @MessagePattern('request.events.something')
  handle(): string {
    return 'without a contract';
  }
}

let nats: TestNats;
beforeAll(async () => {
  nats = await startTestNats(Object.values(natsUsers));
});
afterAll(() => nats.stop());

async function createService(
  controllers: Type[],
  contracts: Contract<object, object>[],
  user = 'events',
): Promise<INestMicroservice> {
  @Module({ controllers })
  class ServiceModule {}
  const options = { urls: [nats.urlFor(user)], name: user, queue: user, contracts };
  const strategy = new NatsServerStrategy(options);
  const service = await NestFactory.createMicroservice(ServiceModule, {
    strategy,
    logger: false,
    abortOnError: false,
  });
  const log = (): void => undefined;
  const logger = { error: log, warn: log, info: log, debug: log };
  service.useGlobalFilters(new ErrorResponder(logger, (error) => error));
  return service;
}

/** Starts a service, and waits until the broker knows its subscriptions, because requests arrive through other connections. */
async function listen(service: INestMicroservice): Promise<void> {
  await service.listen();
  await service.unwrap<NatsConnection>().flush();
}

async function connectClient(): Promise<RequestClient> {
  const client = new RequestClient({ urls: [nats.urlFor('gateway')], name: 'gateway' });
  await client.connect();
  return client;
}

describe(NatsServerStrategy.name, () => {
  describe('a message that is no request', () => {
    let service: INestMicroservice;
    let connection: NatsConnection;
    beforeAll(async () => {
      service = await createService([HandlesOne], [one]);
      await listen(service);
      connection = await connectNats({ urls: [nats.urlFor('gateway')], name: 'gateway' });
    });
    afterAll(async () => {
      await connection.close();
      await service.close();
    });

    it.each([
      ['', 'no bytes'],
      ['{"id":"1","data":', 'half of an envelope'],
      ['null', 'null'],
      ['[1]', 'a list'],
      ['{"value":1}', 'data without an envelope'],
      ['{"id":1,"data":{"value":"x"}}', 'an id that is a number'],
      ['{"id":"1","data":{"value":{"constructor":{"prototype":{}}}}}', 'a member named constructor'],
    ])('gets the error `invalid`: %j (%s)', async (text) => {
      const reply = await connection.request(one.subject, text, { timeout: 20_000 });

      expect(reply.json()).toMatchObject({ err: { code: 'invalid' } });
    });
  });

  describe('a request that names a reply subject', () => {
    const purge = `$JS.API.STREAM.PURGE.${ingestStreamName}`;
    let owner: NatsConnection;
    beforeAll(async () => {
      owner = await connectNats({ urls: [nats.urlFor('events')], name: 'events' });
      const { streams } = await jetstreamManager(owner, { timeout: 20_000 });
      await streams.add({ name: ingestStreamName, subjects: [ingestSubject] });
    });
    afterAll(async () => {
      await (await jetstreamManager(owner)).streams.delete(ingestStreamName);
      await owner.close();
    });

    it.each([
      ['gateway', 'events', 'request.events.store-batch'],
      ['platform-connector', 'events', 'request.events.store-batch'],
      ['streamer-monitor', 'events', 'request.events.list'],
      ['gateway', 'platform-connector', 'request.platform-connector.look-up-users'],
      ['streamer-monitor', 'platform-connector', 'request.platform-connector.look-up-users'],
      ['gateway', 'streamer-monitor', 'request.streamer-monitor.list-streamers'],
      ['events', 'streamer-monitor', 'request.streamer-monitor.list-streamers'],
      ['platform-connector', 'streamer-monitor', 'request.streamer-monitor.list-monitored'],
    ])('from %s does not make %s purge INGEST', async (sender, receiver, subject) => {
      const contract = defineContract({ subject, ...shared });
      @Controller()
      class HandlesAny {
        @Handles(contract)
        async handle(count: Count): Promise<Count> {
          return Promise.resolve(count);
        }
      }
      const service = await createService([HandlesAny], [contract], receiver);
      await listen(service);
      const gateway = await connectNats({ urls: [nats.urlFor('gateway')], name: 'gateway' });
      await gateway.request(ingestSubject, 'waiting', { timeout: 20_000 });
      await gateway.close();
      const connection = await connectNats({ urls: [nats.urlFor(sender)], name: sender });

      const request = JSON.stringify({ pattern: subject, id: '1', data: { value: 1 } });
      connection.publish(subject, request, { reply: purge });
      // The service handles the requests of one connection in order, so it has handled the first one when it replies to the second.
      const reply = await connection.request(subject, request, { timeout: 20_000 });
      await service.unwrap<NatsConnection>().flush();

      expect(reply.json()).toMatchObject({ response: { value: 1 } });
      const { streams } = await jetstreamManager(owner, { timeout: 20_000 });
      expect((await streams.info(ingestStreamName)).state.messages).toBeGreaterThan(0);
      await connection.close();
      await service.close();
    });
  });

  describe('listen', () => {
    it.each<[string, Type[], Contract<object, object>[], string]>([
      ['a contract has no handler', [HandlesOne], [one, two], 'request.events.two has no handler'],
      [
        'a contract has two handlers',
        [HandlesOne, HandlesOneAgain],
        [one],
        'request.events.one has two handlers',
      ],
      ['a handler is outside the list', [HandlesOne], [], 'request.events.one is not among the contracts'],
      ['a handler has no contract', [HandlesOne, HandlesSomething], [one], 'request.events.something is not among the contracts'], // prettier-ignore
    ])('refuses to start when %s', async (_, controllers, contracts, fault) => {
      const service = await createService(controllers, contracts);

      await expect(service.listen()).rejects.toThrow(fault);
      await service.close();
    });

    it('reports every error', async () => {
      const service = await createService([HandlesOne, HandlesOneAgain, HandlesSomething], [one, two]);

      await expect(service.listen()).rejects.toThrow(
        /two has no handler; .*something is not.*; .*one has two/,
      );
      await service.close();
    });

    it('starts when each contract has one handler', async () => {
      const service = await createService([HandlesOne], [one]);
      const client = await connectClient();

      await service.listen();

      // Retry, because the broker may get the request before the subscription, which comes through another connection.
      expect(await eventually(() => client.request(one, { value: 1 }))).toEqual({ value: 1 });
      await client.close();
      await service.close();
    });
  });

  /** Starts a service whose requests wait for `resume()`, and no longer wait after `release()`. */
  async function startSlow() {
    const arrived: number[] = [];
    const waiting: (() => void)[] = [];
    let isOpen = false;
    @Controller()
    class Slow {
      @Handles(one)
      async handle(count: Count): Promise<Count> {
        arrived.push(count.value);
        if (!isOpen) await new Promise<void>((resolve) => waiting.push(resolve));
        return { value: count.value };
      }
    }
    const service = await createService([Slow], [one]);
    await listen(service);
    /** Replies to the requests that are waiting now, but not to later ones. */
    const resume = (): void => {
      for (const answer of waiting.splice(0)) answer();
    };
    const release = (): void => {
      isOpen = true;
      resume();
    };
    return { service, arrived, resume, release };
  }

  describe('when it is overloaded', () => {
    it('rejects requests beyond the limit as unavailable immediately, without calling the handler', async () => {
      const { service, arrived, release } = await startSlow();
      const client = await connectClient();
      const replies = Array.from({ length: maxRequestsInProgress }, (_, value) =>
        client.request(one, { value }),
      );
      await eventually(() => expect(arrived).toHaveLength(maxRequestsInProgress));

      const surplus = await Promise.allSettled(
        Array.from({ length: 20 }, () => client.request(one, { value: -1 })),
      );

      for (const answer of surplus) {
        expect(answer).toMatchObject({
          status: 'rejected',
          reason: {
            code: 'unavailable',
            retryAfterSeconds: 1,
            detail: expect.stringMatching(/overloaded/),
          },
        });
        expect(answer).not.toMatchObject({ reason: expect.any(ReplyTimeoutError) as unknown });
      }
      expect(arrived).toHaveLength(maxRequestsInProgress);
      release();
      expect((await Promise.all(replies)).map(({ value }) => value)).toEqual(arrived.sort((a, b) => a - b));
      expect(await client.request(one, { value: 7 })).toEqual({ value: 7 });
      await client.close();
      await service.close();
    });

    it('counts exactly when too many requests arrive at once, and accepts the same number again when those are done', async () => {
      const { service, arrived, resume } = await startSlow();
      const client = await connectClient();
      const send = (): Promise<Count>[] =>
        Array.from({ length: maxRequestsInProgress + 100 }, (_, value) => client.request(one, { value }));

      for (const round of [1, 2]) {
        const requests = send();
        let refused = 0;
        for (const request of requests) request.catch(() => (refused += 1));
        // Every request is now waiting or rejected, so none is in transit when room becomes free.
        await eventually(() => expect(refused).toBe(100));
        expect(arrived).toHaveLength(round * maxRequestsInProgress);
        resume();
        await Promise.allSettled(requests);
        expect(refused).toBe(100);
      }
      await client.close();
      await service.close();
    });

    it('lets a retry reach another instance that is less busy', async () => {
      const busy = await startSlow();
      const client = await connectClient();
      const replies = Array.from({ length: maxRequestsInProgress }, (_, value) =>
        client.request(one, { value }),
      );
      await eventually(() => expect(busy.arrived).toHaveLength(maxRequestsInProgress));
      const idle = await startSlow();
      idle.release();

      expect(await eventually(() => client.request(one, { value: -1 }))).toEqual({ value: -1 });

      busy.release();
      await Promise.all(replies);
      await client.close();
      await busy.service.close();
      await idle.service.close();
    });
  });

  describe('close', () => {
    it('finishes the requests in flight before it stops', async () => {
      const { service, arrived, release } = await startSlow();
      const client = await connectClient();
      const replies = Array.from({ length: 50 }, (_, value) => client.request(one, { value }));
      await eventually(() => expect(arrived).toHaveLength(50));

      const closing = service.close();
      // The broker reports when no instance subscribes anymore, while the requests in flight still wait.
      const probe = { ...one, timeoutMs: 1_000 };
      await eventually(async () => {
        const failure: unknown = await client.request(probe, { value: -1 }).catch((error: unknown) => error);
        expect(failure).not.toBeInstanceOf(ReplyTimeoutError);
      });
      // Within 100 ms, a service that does not wait would have stopped. A service that waits abandons requests only after 15 s.
      const probedAt = performance.now();
      do await client.ping();
      while (performance.now() < probedAt + 100);
      release();

      expect((await Promise.all(replies)).map((reply) => reply.value)).toEqual(
        Array.from({ length: 50 }, (_, value) => value),
      );
      await closing;
      expect(arrived.filter((value) => value >= 0)).toHaveLength(50);
      await client.close();
    });

    it('loses no request when one of two instances stops under load', async () => {
      const [leaving, staying] = [await startSlow(), await startSlow()];
      const client = await connectClient();
      const send = (from: number): Promise<Count>[] =>
        Array.from({ length: 200 }, (_, index) => client.request(one, { value: from + index }));

      const before = send(0);
      await eventually(() => expect(leaving.arrived.length + staying.arrived.length).toBe(200));
      const closing = leaving.service.close();
      const during = send(200);
      staying.release();
      leaving.release();
      await closing;
      const after = send(400);

      const replies = await Promise.all([...before, ...during, ...after]);
      expect(new Set(replies.map((reply) => reply.value)).size).toBe(600);
      // Each request was handled once, and both instances took part.
      expect(leaving.arrived.length + staying.arrived.length).toBe(600);
      expect(leaving.arrived.length).toBeGreaterThan(0);
      await client.close();
      await staying.service.close();
    });

    it('unsubscribes: the next request is unavailable immediately', async () => {
      const { service, release } = await startSlow();
      const client = await connectClient();
      release();
      await service.close();

      const failure = client.request(one, { value: 1 });

      await expect(failure).rejects.toBeInstanceOf(ServiceError);
      await expect(failure).rejects.toMatchObject({
        code: 'unavailable',
        detail: expect.stringContaining('unavailable') as unknown,
      });
      await client.close();
    });

    it('stops even when NATS is down', async () => {
      const { service, release } = await startSlow();
      release();
      await nats.kill();

      await service.close();

      await nats.restart();
    });
  });
});

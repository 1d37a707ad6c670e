import { Controller, Module, type INestMicroservice } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { defineContract, natsUsers, ServiceError } from '@stream-events/contracts';
import { Registry } from '@stream-events/service';
import { eventually, startTestNats, type TestNats } from '@stream-events/testing';
import { IsIn } from 'class-validator';
import { ErrorResponder } from './error-responder.filter.js';
import { Handles } from './handles.js';
import { NatsServerStrategy } from './nats-server.strategy.js';
import { RequestClient } from './request-client.js';

class Wish {
  @IsIn(['succeed', 'conflict', 'crash', 'hang'])
  outcome!: 'succeed' | 'conflict' | 'crash' | 'hang';
}

const shared = { request: Wish, reply: Wish, errors: ['conflict'], timeoutMs: 20_000 } as const;
const wished = defineContract({ subject: 'request.events.wished', ...shared });
const absent = defineContract({ subject: 'request.events.absent', ...shared });

let release: (() => void)[] = [];

@Controller()
class Wishes {
  @Handles(wished)
  async handle(wish: Wish): Promise<Wish> {
    if (wish.outcome === 'conflict') throw new ServiceError('conflict', 'no');
    if (wish.outcome === 'crash') throw new TypeError('no');
    if (wish.outcome === 'hang') await new Promise<void>((resolve) => release.push(resolve));
    return wish;
  }
}

@Module({ controllers: [Wishes] })
class ServiceModule {}

describe('the metrics of requests', () => {
  let nats: TestNats;
  let metrics: Registry;
  let service: INestMicroservice;
  let client: RequestClient;

  beforeAll(async () => {
    nats = await startTestNats(Object.values(natsUsers));
    // Service and client share a registry, as in `npm start`.
    metrics = new Registry();
    const strategy = new NatsServerStrategy({
      ...{ urls: [nats.urlFor('events')], name: 'events', queue: 'events', contracts: [wished], metrics },
    });
    service = await NestFactory.createMicroservice(ServiceModule, { strategy, logger: false });
    const log = (): void => undefined;
    service.useGlobalFilters(
      new ErrorResponder({ error: log, warn: log, info: log, debug: log }, (error) => error),
    );
    await service.listen();
    const options = { urls: [nats.urlFor('gateway')], name: 'gateway' };
    client = new RequestClient({ ...options, metrics: { registry: metrics, app: 'gateway' } });
    await client.connect();
    await eventually(() => client.request(wished, { outcome: 'succeed' }));
    metrics.resetMetrics();
  });
  afterAll(async () => {
    await client.close();
    await service.close();
    await nats.stop();
  });
  afterEach(() => {
    for (const each of release.splice(0)) each();
    release = [];
  });

  async function samples(name: string): Promise<string[]> {
    const text = await metrics.getSingleMetricAsString(name);
    return text.split('\n').filter((line) => line.startsWith(`${name}{`));
  }

  it('count what was handled and sent by subject and result', async () => {
    await client.request(wished, { outcome: 'succeed' });
    await client.request(wished, { outcome: 'succeed' });
    await expect(client.request(wished, { outcome: 'conflict' })).rejects.toMatchObject({ code: 'conflict' });
    await expect(client.request(wished, { outcome: 'crash' })).rejects.toMatchObject({ code: 'internal' });
    await expect(client.request(absent, { outcome: 'succeed' })).rejects.toMatchObject({
      code: 'unavailable',
    });

    const handled = 'nats_handled_requests_total{app="events",subject="request.events.wished"';
    await eventually(async () =>
      expect(await samples('nats_handled_requests_total')).toEqual([
        `${handled},result="ok"} 2`,
        `${handled},result="conflict"} 1`,
        `${handled},result="internal"} 1`,
      ]),
    );
    const sent = 'nats_sent_requests_total{app="gateway",subject="request.events';
    expect(await samples('nats_sent_requests_total')).toEqual([
      `${sent}.wished",result="ok"} 2`,
      `${sent}.wished",result="conflict"} 1`,
      `${sent}.wished",result="internal"} 1`,
      `${sent}.absent",result="no_service"} 1`,
    ]);
    expect(await metrics.getSingleMetricAsString('nats_handled_request_duration_seconds')).toContain(
      'nats_handled_request_duration_seconds_count{app="events",subject="request.events.wished"} 4',
    );
  });

  it('show what is in progress, and count what gets no reply in time as a timeout', async () => {
    const hanging = client.request(wished, { outcome: 'hang' });
    const labels = (app: string) => `{app="${app}",subject="request.events.wished"}`;

    await eventually(async () => {
      expect(await samples('nats_handled_requests_in_progress')).toEqual([
        `nats_handled_requests_in_progress${labels('events')} 1`,
      ]);
      expect(await samples('nats_sent_requests_waiting')).toContain(
        `nats_sent_requests_waiting${labels('gateway')} 1`,
      );
    });
    for (const each of release.splice(0)) each();
    await hanging;
    // This limit can be short, because no reply arrives in any case.
    await expect(client.request({ ...wished, timeoutMs: 200 }, { outcome: 'hang' })).rejects.toMatchObject({
      code: 'unavailable',
    });

    expect(await samples('nats_sent_requests_total')).toContain(
      'nats_sent_requests_total{app="gateway",subject="request.events.wished",result="timeout"} 1',
    );
    expect(await samples('nats_sent_requests_waiting')).toContain(
      `nats_sent_requests_waiting${labels('gateway')} 0`,
    );
  });
});

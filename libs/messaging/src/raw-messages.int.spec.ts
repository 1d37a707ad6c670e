import { Controller, Module, type INestMicroservice, type Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import {
  defineContract,
  natsUsers,
  ServiceError,
  type Contract,
  type RawFormat,
} from '@stream-events/contracts';
import { eventually, startTestNats, type TestNats } from '@stream-events/testing';
import { IsString } from 'class-validator';
import { ErrorResponder } from './error-responder.filter.js';
import { Handles } from './handles.js';
import { NatsServerStrategy } from './nats-server.strategy.js';
import { NoServiceError, RequestClient } from './request-client.js';

class Text {
  @IsString()
  text!: string;
}

/** Sends the bare text. Only letters are valid, so a JSON envelope around the text would be an error. */
const letters: RawFormat<Text> = {
  print: ({ text }) => Buffer.from(text),
  parse: (bytes) => {
    const text = Buffer.from(bytes).toString();
    if (!/^[a-z]*$/.test(text)) throw new ServiceError('invalid', `${text} is not a word`);
    return { text };
  },
};

const shared = { request: Text, reply: Text, errors: ['invalid', 'conflict'], timeoutMs: 10_000 } as const;
const raw = defineContract({
  subject: 'request.events.raw',
  ...shared,
  rawRequest: letters,
  rawReply: letters,
});
const json = defineContract({ subject: 'request.events.list', ...shared });
const rawReply = defineContract({ ...json, rawReply: letters });

@Controller()
class AnswersRaw {
  @Handles(raw)
  async handle({ text }: Text): Promise<Text> {
    if (text === 'conflict') throw new ServiceError('conflict', 'it exists already');
    return Promise.resolve({ text: [...text].reverse().join('') });
  }
}

@Controller()
class AnswersList {
  @Handles(json)
  async handle({ text }: Text): Promise<Text> {
    return Promise.resolve({ text: [...text].reverse().join('') });
  }
}

let nats: TestNats;
let client: RequestClient;
const services: INestMicroservice[] = [];

beforeAll(async () => {
  nats = await startTestNats(Object.values(natsUsers));
  client = new RequestClient({ urls: [nats.urlFor('gateway')], name: 'gateway' });
  await client.connect();
});

afterEach(async () => {
  for (const service of services.splice(0)) await service.close();
});

afterAll(async () => {
  await client.close();
  await nats.stop();
});

async function serve(controller: Type, contract: Contract<object, object>): Promise<void> {
  @Module({ controllers: [controller] })
  class ServiceModule {}
  const options = { urls: [nats.urlFor('events')], name: 'events', queue: 'events', contracts: [contract] };
  const service = await NestFactory.createMicroservice(ServiceModule, {
    strategy: new NatsServerStrategy(options),
    logger: false,
    abortOnError: false,
  });
  const log = (): void => undefined;
  service.useGlobalFilters(
    new ErrorResponder({ error: log, warn: log, info: log, debug: log }, (error) => error),
  );
  services.push(service);
  await service.listen();
}

/** Repeats the request until the service's subscription has reached the broker. */
function ask(contract: Contract<Text, Text>, text: string): Promise<Text> {
  return eventually(() => client.request(contract, { text }));
}

describe('raw messages', () => {
  it('travel as bytes in both directions', async () => {
    await serve(AnswersRaw, raw);

    expect(await ask(raw, 'drawer')).toEqual({ text: 'reward' });
    expect(await ask(raw, '')).toEqual({ text: '' });
  });

  it('keep the errors of the service and of the parser', async () => {
    await serve(AnswersRaw, raw);
    await ask(raw, 'ready');

    await expect(client.request(raw, { text: 'conflict' })).rejects.toMatchObject({
      code: 'conflict',
      detail: 'it exists already',
    });
    await expect(client.request(raw, { text: '{"json":1}' })).rejects.toMatchObject({ code: 'invalid' });
  });

  it('report a reply in JSON as an error of the service', async () => {
    await serve(AnswersList, json);
    await ask(json, 'ready');

    await expect(client.request(rawReply, { text: 'drawer' })).rejects.toMatchObject({ code: 'internal' });
  });

  it('report a reply that violates the format as an error of the service', async () => {
    await serve(AnswersList, rawReply);
    await ask(rawReply, 'ready');

    await expect(client.request(rawReply, { text: 'Not A Word' })).rejects.toMatchObject({
      code: 'internal',
    });
  });

  it('report a subject that no instance handles', async () => {
    await expect(client.request(raw, { text: 'anyone' })).rejects.toBeInstanceOf(NoServiceError);
  });
});

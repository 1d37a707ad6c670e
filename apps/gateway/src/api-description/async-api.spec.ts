import { eventSubject, replaySubject, type JsonObject } from '@stream-events/contracts';
import { anyCharacter, findFaults } from '@stream-events/testing';
import fc from 'fast-check';
import { printAsyncApi } from '../gateway.description.js';
import { frameOf, gapFrame, keepAliveFrame, readyFrame } from '../live/connections/frames.js';
import { LiveEvent } from '../live/stream/live-event.js';
import { positionOf } from '../live/stream/position.js';
import { describeStreams } from './async-api.js';
import { closeCodes } from '../live/close-codes.js';
import { type GapReason, gapReasons } from '../live/gap-reasons.js';

interface Message {
  headers?: JsonObject;
  examples: { name: string; headers?: JsonObject; payload: JsonObject }[];
}

interface Channel {
  address: string;
  description: string;
  parameters?: Record<string, { enum?: string[]; examples?: string[] }>;
}

let document: JsonObject & {
  channels: Record<'events' | 'replays' | 'live', Channel>;
  components: { messages: Record<string, Message> };
};
beforeAll(async () => {
  document = (await printAsyncApi()) as typeof document; // Safe cast: the type covers only the parts that the tests read.
});

const faultsOf = (message: string, payload: unknown): string[] =>
  findFaults(document, `#/components/messages/${message}/payload`, payload);

/** Extracts the parameters of a channel's address from a subject. */
function matchAddress(address: string, subject: string): Record<string, string> | undefined {
  const pattern = address.replaceAll('.', '\\.').replaceAll(/\{(\w+)\}/g, '(?<$1>[^.]+)');
  return new RegExp(`^${pattern}$`).exec(subject)?.groups;
}

describe(describeStreams.name, () => {
  it('gives valid examples of every message', () => {
    for (const [name, message] of Object.entries(document.components.messages)) {
      expect(message.examples).not.toEqual([]);
      for (const { headers, payload } of message.examples) {
        expect([name, faultsOf(name, payload)]).toEqual([name, []]);
        if (message.headers)
          expect(findFaults(document, `#/components/messages/${name}/headers`, headers)).toEqual([]);
      }
    }
  });

  it('rejects messages that differ from their description', () => {
    const { event, liveReplay, positionedEvent } = document.components.messages;
    const record = event?.examples[0]?.payload;
    expect(faultsOf('event', { ...record, origin: 'replay' })).not.toEqual([]);
    expect(faultsOf('event', { ...record, created: undefined })).not.toEqual([]);
    expect(faultsOf('liveReplay', { ...liveReplay?.examples[0]?.payload, origin: 'test' })).not.toEqual([]);
    const positioned = positionedEvent?.examples[0]?.payload;
    expect(faultsOf('positionedEvent', { ...positioned, position: '1a2b3c4d-04711-6a1f0c11' })).toEqual([
      expect.stringContaining('/position must match pattern'),
    ]);
    expect(faultsOf('gap', { event: 'gap', reason: 'other' })).not.toEqual([]);
    expect(faultsOf('request', { positions: true })).not.toEqual([]);
  });

  it('describes the frames that are sent', () => {
    const text = JSON.stringify(document.components.messages.event?.examples[0]?.payload);
    const event = new LiveEvent('019aa3c1-7f5e-7cc2-9d5c-3b1a6a1f0c11', Buffer.from(text), '1a2b3c4d', 7);
    const at = positionOf(event);
    const payloadOf = (frame: Buffer | undefined): unknown => {
      const head = frame?.[1] === 126 ? 4 : 2;
      return JSON.parse(frame?.subarray(head).toString() ?? '');
    };

    expect(faultsOf('liveEvent', payloadOf(frameOf(event, 'plain')))).toEqual([]);
    expect(faultsOf('positionedEvent', payloadOf(frameOf(event, 'positioned')))).toEqual([]);
    expect(faultsOf('positionedEvent', payloadOf(frameOf(event, 'plain')))).not.toEqual([]);
    expect(faultsOf('ready', payloadOf(readyFrame(at, 'positioned')))).toEqual([]);
    for (const reason of Object.keys(gapReasons) as GapReason[])
      // Safe cast: Object.keys returns the object's own keys.
      expect(faultsOf('gap', payloadOf(gapFrame(reason, 'positioned')))).toEqual([]);
    for (const format of ['plain', 'positioned'] as const)
      expect(faultsOf('keepAlive', payloadOf(keepAliveFrame(at, format)))).toEqual([]);
  });

  it('describes the subjects that are published on', () => {
    const { events, replays } = document.channels;
    expect(matchAddress(events.address, eventSubject('test', 'stream.offline', null))).toEqual({
      origin: 'test',
      event_type: 'stream%2Eoffline',
      broadcaster_user_id: '_',
    });
    expect(events.parameters?.event_type?.examples).toContain('stream%2Eoffline');
    fc.assert(
      fc.property(
        fc.string({ minLength: 1, unit: anyCharacter }),
        fc.option(fc.string()),
        (type, broadcaster) => {
          expect(matchAddress(events.address, eventSubject('platform', type, broadcaster))).toBeDefined();
          expect(matchAddress(replays.address, replaySubject(type, broadcaster))).toBeDefined();
        },
      ),
    );
  });

  it('describes every parameter of every address', () => {
    for (const { address, parameters = {} } of Object.values(document.channels)) {
      const named = [...address.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
      expect(Object.keys(parameters)).toEqual(named);
    }
  });

  it('lists every close code', () => {
    for (const { code, text } of Object.values(closeCodes))
      expect(document.channels.live.description).toContain(`- \`${code}\`: ${text}`);
  });

  it('uses no OpenAPI keyword that AsyncAPI does not know', () => {
    const keys = JSON.stringify(document.components).match(/"(example|nullable)":/g);
    expect(keys).toBeNull();
  });
});

import { readJsonObject, type MessageClass } from '@stream-events/contracts';
import {
  ApiEndpointBody,
  ApiEndpointChangesBody,
  CreateEventBody,
  ErasureBody,
  EventTypeStateBody,
  JsonText,
  LoginBody,
  parseBody,
  PasswordBody,
  ProfileBody,
  readForm,
  RegistrationBody,
  ReplayBody,
  RotationBody,
  ScopeBody,
  ScopeChangesBody,
  StreamerBody,
  StreamerChangesBody,
  TokenBody,
  TokenChangesBody,
  UserStateBody,
} from '@stream-events/gateway/fuzzing';
import { bodySeeds, bodyWords } from '../body-seeds.js';
import { attempt, expectEqual, type ParserTarget } from './parser-target.js';

const bodies: readonly MessageClass<object>[] = [
  ...[ApiEndpointBody, ApiEndpointChangesBody, CreateEventBody, ErasureBody, EventTypeStateBody, LoginBody],
  ...[PasswordBody, ProfileBody, RegistrationBody, ReplayBody, RotationBody, ScopeBody, ScopeChangesBody],
  ...[StreamerBody, StreamerChangesBody, TokenBody, TokenChangesBody, UserStateBody],
];

/** Request bodies. Each input is read as the body of every route. */
export const bodyTarget: ParserTarget = {
  name: 'bodies',
  description:
    'bodies of requests, each as the body of every route; data that is forwarded as text must parse to the value that JSON.parse reads',
  seeds: bodySeeds,
  words: bodyWords,
  run: (input) => {
    attempt(() => readForm(input));
    const json = attempt(() => readJsonObject(input));
    if (!json) return 'refused';
    expectEqual(json.value, JSON.parse(json.text), 'the value differs from its text');
    let isAccepted = false;
    for (const type of bodies) {
      const body = attempt(() => parseBody(type, json));
      isAccepted ||= body !== undefined;
      for (const value of Object.values(body ?? {}))
        if (value instanceof JsonText)
          expectEqual(JSON.parse(value.text), value.value, 'a member differs from its text');
    }
    if (({} as { x?: unknown }).x !== undefined) throw new Error('a body changed the prototype of objects');
    return isAccepted ? 'accepted' : 'refused';
  },
};

import type { OpenAPIObject } from '@nestjs/swagger';
import { printOpenApi } from '../gateway.description.js';
import { describeApi } from './open-api.js';

type Operation = NonNullable<OpenAPIObject['paths'][string]['get']>;

const problemReference = /^#\/components\/responses\/([A-Za-z]+)$/;

describe(describeApi.name, () => {
  let document: OpenAPIObject;
  let operations: Operation[];

  const findOperation = (id: string): Operation | undefined =>
    operations.find(({ operationId }) => operationId === id);

  beforeAll(async () => {
    document = await printOpenApi();
    operations = Object.values(document.paths).flatMap(({ get, post, put, patch, delete: remove }) =>
      [get, post, put, patch, remove].filter((operation) => operation !== undefined),
    );
  });

  it('gives every operation a unique id of a verb and a noun', () => {
    const ids = operations.map(({ operationId }) => operationId ?? '');

    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.filter((id) => !/^[a-z]+([A-Z][a-z]+)+$/.test(id))).toEqual([]);
    expect(ids).toEqual(expect.arrayContaining(['listEvents', 'createStreamer', 'getPlatformStatus']));
  });

  it('says of every operation whether it needs a token', () => {
    const open = operations.filter(({ security }) => security?.length === 0);

    expect(operations.filter(({ security }) => security === undefined)).toEqual([]);
    expect(open.map(({ operationId }) => operationId).sort()).toEqual([
      'completeConnection',
      'getAccessToken',
      'getHeartbeat',
      'getLiveness',
      'getReadiness',
      'openWebSocket',
      'receivePlatformMessage',
      'receivePlatformMessageOfSecret',
      'receivePlatformMessageOfType',
      'startSession',
    ]);
    expect(findOperation('listEvents')?.security).toEqual([{ token: ['events:read'] }]);
  });

  it('refers to shared components for all errors, each with its own reason', () => {
    const errors = operations
      .filter(({ operationId }) => operationId !== 'getReadiness') // a 503 with a body of its own
      .flatMap(({ responses }) => Object.entries(responses).filter(([status]) => Number(status) >= 400));

    expect(errors.length).toBeGreaterThan(100);
    for (const [, response] of errors) {
      if (!response || !('$ref' in response)) throw new Error('an error is described inline');
      const [, component = ''] = problemReference.exec(response.$ref) ?? [];
      expect(document.components?.responses).toHaveProperty(component);
      expect(response).toMatchObject({ description: expect.stringMatching(/^\S/) });
    }
    expect(findOperation('getScope')?.responses['404']).toEqual({
      $ref: '#/components/responses/NotFound',
      description: 'The scope does not exist',
    });
  });

  it('describes each error with a problem document and its headers', () => {
    const { responses, schemas } = document.components ?? {};

    expect(schemas).toHaveProperty('Problem');
    expect(responses?.ServiceUnavailable).toMatchObject({
      headers: { 'Retry-After': { schema: { type: 'string' } } },
      content: {
        'application/problem+json': {
          schema: { $ref: '#/components/schemas/Problem' },
          example: { title: 'Service Unavailable', status: 503 },
        },
      },
    });
  });

  it('gives every response with status 201 a Location header', () => {
    const creating = operations.filter(({ responses }) => '201' in responses);

    expect(creating.length).toBeGreaterThan(5);
    for (const { operationId, responses } of creating)
      expect({ operationId, ...responses['201'] }).toMatchObject({ operationId, headers: { Location: {} } });
  });

  it('says that a repeated Idempotency-Key can name an erased event', () => {
    for (const id of ['createEvent', 'createTestEvent'])
      expect(findOperation(id)?.responses['409']).toMatchObject({
        description: expect.stringContaining('erased'),
      });
  });
});

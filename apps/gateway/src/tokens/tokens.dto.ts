import { applyDecorators } from '@nestjs/common';
import { ApiProperty } from '@nestjs/swagger';
import { isTextWithin, IsText } from '@stream-events/contracts';
import { ArrayMinSize, ArrayUnique, IsIn, ValidateBy, ValidateIf } from 'class-validator';
import type { CallerToken } from '../access/caller.js';
import { tokenScopes, type TokenScope } from '../access/token-scopes.js';
import { MayBeAbsent, RefusesUnknownFields, Trimmed } from '../http/json-body.decorator.js';
import { exampleTime, printTime, readTime } from '../http/time.js';
import type { IssuedToken, NamedTokenFields, Token } from './tokens.service.js';

/** Maximum number of event types, and of channels, per token. */
const maxLimits = 100;

/** Stays in the future while people read the examples. */
const futureTime = '2099-12-31T23:59:59+0000';

const scopeNames = Object.keys(tokenScopes);

const example = {
  id: '019aa3c1-7f5e-7cc2-9d5c-3b1a6a1f0c11',
  name: 'Alerts overlay',
  scopes: ['events:read', 'events:live'],
  eventTypes: ['channel-raid', 'channel-cheer'],
  channelIds: ['47019283'],
};

const readOnly = ['id', 'user', 'kind', 'created', 'last_used', 'key_start'];

/** Fields that are optional in both the create and the update request. */
class TokenLimitsBody {
  @LimitField('Limits the token to events of these types. Null: events of all types', example.eventTypes)
  event_types?: string[] | null;

  @LimitField(
    'Limits the token to events of these channels, including raids from and to these channels. Null: events of all channels',
    example.channelIds,
  )
  channel_ids?: string[] | null;

  @ApiProperty({
    type: String,
    description: 'When the token expires: an ISO 8601 time in the future. Null: never',
    required: false,
    nullable: true,
    example: futureTime,
  })
  @MayBeAbsentOrNull()
  @ValidateBy({
    name: 'isFuture',
    validator: {
      validate: (value: unknown) => typeof value === 'string' && (readTime(value) ?? 0) > Date.now(),
      defaultMessage: () => `must be an ISO 8601 time in the future, for example ${futureTime}`,
    },
  })
  expires?: string | null;
}

/** Body of `POST /api/v1/tokens`. Rejects unknown fields: a misspelled limit would create a token without this limit. */
@RefusesUnknownFields(readOnly)
export class TokenBody extends TokenLimitsBody {
  @NameField()
  name!: string;

  @ScopesField()
  scopes!: TokenScope[];
}

/** Body of `PATCH /api/v1/tokens/<id>`. Omitted fields keep their values. */
@RefusesUnknownFields(readOnly)
export class TokenChangesBody extends TokenLimitsBody {
  @NameField({ required: false })
  @MayBeAbsent()
  name?: string;

  @ScopesField({ required: false })
  @MayBeAbsent()
  scopes?: TokenScope[];
}

function NameField({ required = true } = {}): PropertyDecorator {
  return applyDecorators(
    ApiProperty({
      description: 'The name of the token. Trimmed',
      required,
      minLength: 1,
      maxLength: 64,
      example: example.name,
    }),
    Trimmed(),
    IsText(1, 64),
  );
}

function ScopesField({ required = true } = {}): PropertyDecorator {
  return applyDecorators(
    ApiProperty({
      description: 'What the token allows',
      required,
      enum: scopeNames,
      isArray: true,
      minItems: 1,
      uniqueItems: true,
      example: example.scopes,
    }),
    IsIn(scopeNames, { each: true, message: `must be a list of ${scopeNames.join(', ')}` }),
    ArrayUnique({ message: 'must name each scope once' }),
    ArrayMinSize(1, { message: 'must have at least one scope' }),
  );
}

function MayBeAbsentOrNull(): PropertyDecorator {
  return ValidateIf((_body: object, value: unknown) => value !== undefined && value !== null);
}

function LimitField(description: string, values: readonly string[]): PropertyDecorator {
  const isList = (value: unknown): boolean =>
    Array.isArray(value) &&
    value.length >= 1 &&
    value.length <= maxLimits &&
    new Set(value).size === value.length &&
    value.every((entry) => isTextWithin(entry, 1, 255));
  return applyDecorators(
    ApiProperty({
      type: [String],
      description,
      required: false,
      nullable: true,
      minItems: 1,
      maxItems: maxLimits,
      uniqueItems: true,
      example: values,
    }),
    MayBeAbsentOrNull(),
    ValidateBy({
      name: 'isLimit',
      validator: {
        validate: isList,
        defaultMessage: () =>
          `must be null or a list of 1 to ${maxLimits} different texts of 1 to 255 characters (no NUL character, no unpaired surrogate)`,
      },
    }),
  );
}

/** A token as the API returns it. Never contains the key. */
export class TokenRecord {
  @ApiProperty({ format: 'uuid', description: 'Assigned by the service', example: example.id })
  id!: string;

  @ApiProperty({ format: 'uuid', description: 'The id of the user', example: example.id })
  user!: string;

  @ApiProperty({
    enum: ['main', 'session', 'named'],
    description:
      '`main`: the token from registration and `api-token-auth`. `session`: a token for web pages, valid for 12 hours. `named`: a token with scopes',
    example: 'named',
  })
  kind!: CallerToken['kind'];

  @ApiProperty({ example: example.name })
  name!: string;

  @ApiProperty({
    enum: scopeNames,
    isArray: true,
    nullable: true,
    description:
      'The scopes of the token. Null for a main token and a session, which have all rights of the user',
    example: example.scopes,
  })
  scopes!: TokenScope[] | null;

  @ApiProperty({
    type: [String],
    nullable: true,
    description: 'The event types that the token is limited to. Null: events of all types',
    example: example.eventTypes,
  })
  event_types!: string[] | null;

  @ApiProperty({
    type: [String],
    nullable: true,
    description: 'The ids of the channels that the token is limited to. Null: events of all channels',
    example: example.channelIds,
  })
  channel_ids!: string[] | null;

  @ApiProperty({ description: 'Creation time, UTC, to the second', example: exampleTime })
  created!: string;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'When the token expires, UTC, to the second. Null: never',
    example: futureTime,
  })
  expires!: string | null;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'When the token was last used, UTC, to the minute. Null if the token was never used',
    example: exampleTime,
  })
  last_used!: string | null;

  @ApiProperty({ description: 'The first four characters of the key', example: '9944' })
  key_start!: string;
}

export class IssuedTokenRecord extends TokenRecord {
  @ApiProperty({
    description: 'The key. Send it as `Authorization: Token <key>`. The service does not show the key again',
    example: '9944b09199c62bcf9418ad846dd0e4bbdfc6ee4b',
  })
  key!: string;
}

/** Maps body fields to token fields. Omitted fields stay omitted. */
export function toTokenChanges(body: TokenBody | TokenChangesBody): Partial<NamedTokenFields> {
  return {
    ...(body.name !== undefined && { name: body.name }),
    ...(body.scopes !== undefined && { scopes: body.scopes }),
    ...(body.event_types !== undefined && { eventTypes: body.event_types }),
    ...(body.channel_ids !== undefined && { channelIds: body.channel_ids }),
    ...(body.expires !== undefined && {
      expiresAt: body.expires === null ? null : new Date(readTime(body.expires) ?? 0),
    }),
  };
}

export function toTokenRecord(token: Token): TokenRecord {
  return {
    id: token.id,
    user: token.userId,
    kind: token.kind,
    name: token.name,
    scopes: token.rights?.scopes ?? null,
    event_types: token.rights?.eventTypes ?? null,
    channel_ids: token.rights?.channelIds ?? null,
    created: printTime(token.createdAt.getTime()),
    expires: print(token.expiresAt),
    last_used: print(token.lastUsedAt),
    key_start: token.keyStart,
  };
}

export function toIssuedTokenRecord({ token, key }: IssuedToken): IssuedTokenRecord {
  return { ...toTokenRecord(token), key };
}

function print(time: Date | null): string | null {
  return time && printTime(time.getTime());
}

import { ApiProperty } from '@nestjs/swagger';
import {
  connectionFlows,
  connectionRoles,
  connectionStates,
  type ConnectionFlow,
  type ConnectionMessage,
  type ConnectionRole,
  type ConnectionState,
} from '@stream-events/contracts';
import { scopes } from '@stream-events/platforms';
import { ArrayUnique, IsIn } from 'class-validator';
import { MayBeAbsent } from '../http/json-body.decorator.js';
import { exampleTime, printTime, printTimeOrNull } from '../http/time.js';
import { describeScope } from './describe-scope.js';

const scopeNames = scopes.map(({ scope }) => scope);

/** Body of `POST /api/v1/platform/connections`. */
export class ConnectionBody {
  @ApiProperty({
    enum: connectionRoles,
    required: false,
    description:
      '`channel`: the service monitors the channel and subscribes to its events. `bot`: the account sends messages, and reads the chat ' +
      'of all channels in place of each channel’s own user. Connecting another bot account replaces the current bot account. Default: `channel`',
    example: 'channel',
  })
  @MayBeAbsent()
  @IsIn(connectionRoles, { message: `must be one of ${connectionRoles.join(', ')}` })
  role?: ConnectionRole;

  @ApiProperty({
    enum: connectionFlows,
    required: false,
    description:
      '`device_code`: the user enters a code on the platform’s page, in any browser. `authorization_code`: the user gives consent on ' +
      'the platform’s page, which then returns the browser to this service. This flow needs `PUBLIC_URL`. Default: `device_code`',
    example: 'device_code',
  })
  @MayBeAbsent()
  @IsIn(connectionFlows, { message: `must be one of ${connectionFlows.join(', ')}` })
  flow?: ConnectionFlow;

  @ApiProperty({
    enum: scopeNames,
    isArray: true,
    required: false,
    uniqueItems: true,
    description:
      'Additional scopes to ask for, so that your programs can call the platform’s API as this user. The service always asks for the ' +
      'scopes that it needs itself. List the additional scopes every time you connect the user: a new consent replaces the previous consent',
    example: ['user:write:chat'],
  })
  @MayBeAbsent()
  @IsIn(scopeNames, {
    each: true,
    message: 'must be a list of scopes of the platform, such as user:write:chat',
  })
  @ArrayUnique({ message: 'must name each scope once' })
  scopes?: string[];
}

/** What the browser shows after a user has given consent. */
export class ConsentConfirmation {
  @ApiProperty({
    description: 'What happens next',
    example: 'Consent received. The service subscribes within seconds. You can close this page.',
  })
  message!: string;

  @ApiProperty({
    description: 'The path of the connection',
    example: '/api/v1/platform/connections/019aa3c1-7f5e-7cc2-9d5c-3b1a6a1f0c11',
  })
  connection!: string;
}

/** A user who has given consent or was asked for it. */
export class ConnectionRecord {
  @ApiProperty({
    format: 'uuid',
    description: 'Assigned by the service',
    example: '019aa3c1-7f5e-7cc2-9d5c-3b1a6a1f0c11',
  })
  id!: string;

  @ApiProperty({
    enum: connectionStates,
    description:
      '`pending`: the user has not given consent yet. `connected`: the service has the user’s consent. `reconnect_needed`: the ' +
      'platform has ended the consent. `expired`: the user refused consent or did not give consent in time',
    example: 'pending',
  })
  state!: ConnectionState;

  @ApiProperty({
    enum: connectionRoles,
    description:
      '`channel`: a channel whose events are stored. `bot`: the account that reads and sends chat messages',
    example: 'channel',
  })
  role!: ConnectionRole;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'The user’s id on the platform. Null until the user has given consent',
    example: null,
  })
  platform_id!: string | null;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'The user’s name on the platform. Null until the user has given consent',
    example: null,
  })
  platform_username!: string | null;

  @ApiProperty({
    type: [String],
    description:
      'The scopes that the user has granted. While `pending`, the scopes that the user is asked for',
    example: ['bits:read', 'moderator:read:followers'],
  })
  scopes!: string[];

  @ApiProperty({
    type: [String],
    description: 'What the scopes permit, in words, in the order of `scopes`',
    example: ['See Bits activity on the channel', 'See who follows the channel'],
  })
  permissions!: string[];

  @ApiProperty({
    type: String,
    nullable: true,
    description:
      'The code that the user enters at `verification_uri`. Only for owners. Null unless the state is `pending` and the flow is `device_code`',
    example: 'ABCDEFGH',
  })
  user_code!: string | null;

  @ApiProperty({
    type: String,
    format: 'uri',
    nullable: true,
    description:
      'The page on which the user enters the code or gives consent. Only for owners. Null unless the state is `pending`. For `authorization_code`, only the ' +
      'response to the POST contains the page, because its address is secret',
    example: 'https://www.twitch.tv/activate?public=true&device-code=ABCDEFGH',
  })
  verification_uri!: string | null;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'When the code or the page expires, UTC, to the second. Null unless the state is `pending`',
    example: exampleTime,
  })
  expires!: string | null;

  @ApiProperty({
    type: String,
    nullable: true,
    description:
      'What to do in the states `reconnect_needed` and `expired`, and in `pending` when the platform does not accept the code. Otherwise null',
    example: null,
  })
  remedy!: string | null;

  @ApiProperty({ description: 'Creation time, UTC, to the second', example: exampleTime })
  created!: string;

  @ApiProperty({ description: 'Time of the last change, UTC, to the second', example: exampleTime })
  updated!: string;
}

export function toConnectionRecord(connection: ConnectionMessage): ConnectionRecord {
  return {
    id: connection.id,
    state: connection.state,
    role: connection.role,
    platform_id: connection.userId,
    platform_username: connection.login,
    scopes: connection.scopes,
    permissions: connection.scopes.map(describeScope),
    user_code: connection.userCode,
    verification_uri: connection.verificationUri,
    expires: printTimeOrNull(connection.expiresAt),
    remedy: connection.remedy,
    created: printTime(connection.createdAt),
    updated: printTime(connection.updatedAt),
  };
}

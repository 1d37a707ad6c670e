import { ApiProperty } from '@nestjs/swagger';
import { connectionStates, type ConnectionMessage, type ConnectionState } from '@stream-events/contracts';
import { exampleTime, printTime, printTimeOrNull } from '../http/time.js';

/** A channel that has given consent, or is asked for it. */
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
      '`pending`: the user has not entered the code yet. `connected`: the service has the user’s consent. `reconnect_needed`: the ' +
      'platform has ended the consent. `expired`: the code expired, or the user refused',
    example: 'pending',
  })
  state!: ConnectionState;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'The platform’s id of the user. Null until the user has given consent',
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
    type: String,
    nullable: true,
    description: 'The code that the user enters at `verification_uri`. Null unless `pending`',
    example: 'ABCDEFGH',
  })
  user_code!: string | null;

  @ApiProperty({
    type: String,
    format: 'uri',
    nullable: true,
    description: 'The page on which the user enters the code. Null unless `pending`',
    example: 'https://www.twitch.tv/activate?public=true&device-code=ABCDEFGH',
  })
  verification_uri!: string | null;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'When the code expires, UTC, to the second. Null unless `pending`',
    example: exampleTime,
  })
  expires!: string | null;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'What to do in the states `reconnect_needed` and `expired`. Null in the others',
    example: null,
  })
  remedy!: string | null;

  @ApiProperty({ description: 'Creation time, UTC, to the second', example: exampleTime })
  created!: string;

  @ApiProperty({ description: 'Time of the last change, UTC, to the second', example: exampleTime })
  updated!: string;
}

/** Converts a connection to its form in the API. */
export function toConnectionRecord(connection: ConnectionMessage): ConnectionRecord {
  return {
    id: connection.id,
    state: connection.state,
    platform_id: connection.userId,
    platform_username: connection.login,
    scopes: connection.scopes,
    user_code: connection.userCode,
    verification_uri: connection.verificationUri,
    expires: printTimeOrNull(connection.expiresAt),
    remedy: connection.remedy,
    created: printTime(connection.createdAt),
    updated: printTime(connection.updatedAt),
  };
}

import { ApiProperty } from '@nestjs/swagger';
import { IsText } from '@stream-events/contracts';
import { IsBoolean, Matches } from 'class-validator';
import { passwordLength, usernameRule } from '../gateway.config.js';
import { MayBeAbsent, Trimmed } from '../http/json-body.decorator.js';
import { printTime } from '../http/time.js';
import type { Role, User } from './user.entity.js';

const example = {
  id: '019aa3c1-7f5e-7cc2-9d5c-3b1a6a1f0c11',
  username: 'overlay-bot',
  key: '9944b09199c62bcf9418ad846dd0e4bbdfc6ee4b',
};

/** Body of `POST api-token-auth`. Any text may be tried; only a user's own name and password get a token. */
export class LoginBody {
  @ApiProperty({ description: 'In any case', minLength: 1, maxLength: 1000, example: example.username })
  @IsText(1, 1_000)
  username!: string;

  @ApiProperty({
    description: 'Kept as sent: spaces count',
    minLength: 1,
    maxLength: 1000,
    format: 'password',
    example: 'correct horse battery staple',
  })
  @IsText(1, 1_000)
  password!: string;
}

export class TokenReply {
  @ApiProperty({
    description: 'The access token: send it as `Authorization: Token <token>`',
    example: example.key,
  })
  token!: string;
}

/** The names and e-mail address that a user may have and change. */
export class ProfileBody {
  @ApiProperty({ description: 'Trimmed', required: false, maxLength: 150, example: 'Ada' })
  @Trimmed()
  @MayBeAbsent()
  @IsText(0, 150)
  first_name?: string;

  @ApiProperty({ description: 'Trimmed', required: false, maxLength: 150, example: 'Lovelace' })
  @Trimmed()
  @MayBeAbsent()
  @IsText(0, 150)
  last_name?: string;

  @ApiProperty({
    required: false,
    maxLength: 254,
    example: 'ada@example.org',
    description: 'Empty, or an e-mail address; trimmed',
    pattern: '^$|^[^@\\s]+@[^@\\s]+$',
  })
  @Trimmed()
  @MayBeAbsent()
  @Matches(/^$|^[^@\s\0]+@[^@\s\0]+$/, { message: 'must be empty or an e-mail address' })
  @IsText(0, 254)
  email?: string;
}

/** Body of a registration. */
export class RegistrationBody extends ProfileBody {
  @ApiProperty({
    description: 'Unique in any case; trimmed',
    minLength: 1,
    maxLength: 150,
    pattern: usernameRule.pattern.source,
    example: example.username,
  })
  @Trimmed()
  @Matches(usernameRule.pattern, { message: usernameRule.fault })
  username!: string;

  @ApiProperty({
    minLength: 10,
    maxLength: 1000,
    format: 'password',
    description: 'Not the user name',
    example: 'correct horse battery staple',
  })
  @IsText(passwordLength.min, passwordLength.max)
  password!: string;
}

export class PasswordBody {
  @ApiProperty({
    description: 'The present password',
    minLength: 1,
    maxLength: 1000,
    format: 'password',
    example: 'correct horse battery staple',
  })
  @IsText(1, 1_000)
  current_password!: string;

  @ApiProperty({
    minLength: 10,
    maxLength: 1000,
    format: 'password',
    description: 'Not the user name',
    example: 'a better horse battery staple',
  })
  @IsText(passwordLength.min, passwordLength.max)
  new_password!: string;
}

export class UserStateBody {
  @ApiProperty({ description: 'A disabled user can do nothing until enabled again', example: true })
  @IsBoolean({ message: 'must be true or false' })
  disabled!: boolean;
}

/** A user, as the API shows one. */
export class UserReply {
  @ApiProperty({ description: 'Assigned by the service', format: 'uuid', example: example.id })
  id!: string;

  @ApiProperty({ description: 'As it was registered', example: example.username })
  username!: string;

  @ApiProperty({ description: 'Empty when not given', example: 'Ada' })
  first_name!: string;

  @ApiProperty({ description: 'Empty when not given', example: 'Lovelace' })
  last_name!: string;

  @ApiProperty({ description: 'Empty when not given', example: 'ada@example.org' })
  email!: string;

  @ApiProperty({
    description: 'An owner may do all, a user all but manage users',
    enum: ['owner', 'user'],
    example: 'user',
  })
  role!: Role;

  @ApiProperty({ description: 'Whether the user’s token is refused', example: false })
  disabled!: boolean;

  @ApiProperty({ description: 'UTC, to the second', example: '2026-11-21T07:30:00+0000' })
  created!: string;
}

export class RegistrationReply extends UserReply {
  @ApiProperty({ description: 'The new user’s access token', example: example.key })
  auth_token!: string;
}

/** Shows a user as the API does. */
export function toUserReply(user: User): UserReply {
  return {
    id: user.id,
    username: user.username,
    first_name: user.firstName,
    last_name: user.lastName,
    email: user.email,
    role: user.role,
    disabled: user.isDisabled,
    created: printTime(user.createdAt.getTime()),
  };
}

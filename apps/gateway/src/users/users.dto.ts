import { ApiProperty } from '@nestjs/swagger';
import { IsText } from '@stream-events/contracts';
import { IsBoolean, IsOptional, Matches } from 'class-validator';
import { Trimmed } from '../http/json-body.decorator.js';
import type { Role, User } from './user.entity.js';

const example = {
  id: '019aa3c1-7f5e-7cc2-9d5c-3b1a6a1f0c11',
  username: 'overlay-bot',
  key: '9944b09199c62bcf9418ad846dd0e4bbdfc6ee4b',
};

/** Body of `POST api-token-auth`. Any text may be tried; only a user's own name and password get a token. */
export class LoginBody {
  @ApiProperty({ example: example.username })
  @IsText(1, 1_000)
  username!: string;

  @ApiProperty({ example: 'correct horse battery staple', format: 'password' })
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
  @ApiProperty({ required: false, maxLength: 150, example: 'Ada' })
  @Trimmed()
  @IsOptional()
  @IsText(0, 150)
  first_name?: string;

  @ApiProperty({ required: false, maxLength: 150, example: 'Lovelace' })
  @Trimmed()
  @IsOptional()
  @IsText(0, 150)
  last_name?: string;

  @ApiProperty({
    required: false,
    maxLength: 254,
    example: 'ada@example.org',
    description: 'Empty, or an e-mail address',
  })
  @Trimmed()
  @IsOptional()
  @Matches(/^$|^[^@\s\0]+@[^@\s\0]+$/, { message: 'must be empty or an e-mail address' })
  @IsText(0, 254)
  email?: string;
}

/** Body of a registration. */
export class RegistrationBody extends ProfileBody {
  @ApiProperty({ minLength: 1, maxLength: 150, pattern: '^[\\w.@+-]+$', example: example.username })
  @Trimmed()
  @Matches(/^[\w.@+-]{1,150}$/, { message: 'must be 1 to 150 letters, digits or any of @ . + - _' })
  username!: string;

  @ApiProperty({
    minLength: 10,
    maxLength: 1000,
    format: 'password',
    description: 'Not the user name',
    example: 'correct horse battery staple',
  })
  @IsText(10, 1_000)
  password!: string;
}

export class PasswordBody {
  @ApiProperty({ format: 'password', example: 'correct horse battery staple' })
  @IsText(1, 1_000)
  current_password!: string;

  @ApiProperty({
    minLength: 10,
    maxLength: 1000,
    format: 'password',
    example: 'a better horse battery staple',
  })
  @IsText(10, 1_000)
  new_password!: string;
}

export class UserStateBody {
  @ApiProperty({ description: 'A disabled user can do nothing until enabled again', example: true })
  @IsBoolean({ message: 'must be true or false' })
  disabled!: boolean;
}

/** A user, as the API shows one. */
export class UserReply {
  @ApiProperty({ format: 'uuid', example: example.id })
  id!: string;

  @ApiProperty({ example: example.username })
  username!: string;

  @ApiProperty({ example: 'Ada' })
  first_name!: string;

  @ApiProperty({ example: 'Lovelace' })
  last_name!: string;

  @ApiProperty({ example: 'ada@example.org' })
  email!: string;

  @ApiProperty({ enum: ['owner', 'user'], example: 'user' })
  role!: Role;

  @ApiProperty({ example: false })
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
    created: `${user.createdAt.toISOString().slice(0, 19)}+0000`,
  };
}

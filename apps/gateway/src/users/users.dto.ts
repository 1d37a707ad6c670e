import { ApiProperty, PickType, type ApiPropertyOptions } from '@nestjs/swagger';
import { IsText } from '@stream-events/contracts';
import { IsBoolean, IsIn, Matches } from 'class-validator';
import type { CallerToken, Role } from '../access/caller.js';
import { passwordLength, usernameRule } from '../gateway.config.js';
import { MayBeAbsent, Trimmed } from '../http/json-body.decorator.js';
import { printTime } from '../http/time.js';
import type { User } from './user.entity.js';

const roles: readonly Role[] = ['owner', 'user'];

const example = {
  id: '019aa3c1-7f5e-7cc2-9d5c-3b1a6a1f0c11',
  username: 'overlay-bot',
  key: '9944b09199c62bcf9418ad846dd0e4bbdfc6ee4b',
};

/**
 * Body of `POST /api-token-auth` and `POST /api/v1/sessions`. Does not apply the registration rules: a user name or password that breaks
 * them simply fails to log in.
 */
export class LoginBody {
  @ApiProperty({
    description: 'Case-insensitive',
    minLength: 1,
    maxLength: 1000,
    example: example.username,
  })
  @IsText(1, 1_000)
  username!: string;

  @ApiProperty({
    description: 'Not trimmed: spaces are part of the password',
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
    description: 'The main token. Send it as `Authorization: Token <token>`',
    example: example.key,
  })
  token!: string;
}

/** The fields of a user that the user can change without an owner. */
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
    description: 'Empty, or an email address. Trimmed',
    pattern: '^$|^[^@\\s]+@[^@\\s]+$',
  })
  @Trimmed()
  @MayBeAbsent()
  @Matches(/^$|^[^@\s\0]+@[^@\s\0]+$/, { message: 'must be empty or an email address' })
  @IsText(0, 254)
  email?: string;
}

export class RegistrationBody extends ProfileBody {
  @ApiProperty({
    description: 'Unique. Case-insensitive, trimmed',
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
    description: 'Must not be the user name or easy to guess',
    example: 'correct horse battery staple',
  })
  @IsText(passwordLength.min, passwordLength.max)
  password!: string;
}

export class RotationBody {
  @ApiProperty({
    description: 'The current password',
    minLength: 1,
    maxLength: 1000,
    format: 'password',
    example: 'correct horse battery staple',
  })
  @IsText(1, 1_000)
  current_password!: string;
}

export class PasswordBody extends RotationBody {
  @ApiProperty({
    minLength: 10,
    maxLength: 1000,
    format: 'password',
    description: 'Must not be the user name or easy to guess',
    example: 'a better horse battery staple',
  })
  @IsText(passwordLength.min, passwordLength.max)
  new_password!: string;
}

export class UserStateBody {
  @ApiProperty({
    description: 'Owners can do everything. Users cannot use operations that are for owners only',
    enum: roles,
    required: false,
    example: 'owner',
  })
  @MayBeAbsent()
  @IsIn(roles, { message: `must be ${roles.join(' or ')}` })
  role?: Role;

  @ApiProperty({
    description: 'Whether the user is disabled. A disabled user cannot log in or use the API',
    required: false,
    example: true,
  })
  @MayBeAbsent()
  @IsBoolean({ message: 'must be true or false' })
  disabled?: boolean;
}

/** A user as the API returns it. */
export class UserReply {
  @ApiProperty({ description: 'Assigned by the service', format: 'uuid', example: example.id })
  id!: string;

  @ApiProperty({ description: 'The name as registered', example: example.username })
  username!: string;

  @ApiProperty({ description: 'Empty if not set', example: 'Ada' })
  first_name!: string;

  @ApiProperty({ description: 'Empty if not set', example: 'Lovelace' })
  last_name!: string;

  @ApiProperty({ description: 'Empty if not set', example: 'ada@example.org' })
  email!: string;

  @ApiProperty({
    description: 'Owners can do everything. Users cannot use operations that are for owners only',
    enum: roles,
    example: 'user',
  })
  role!: Role;

  @ApiProperty({ description: 'Whether the user is disabled', example: false })
  disabled!: boolean;

  @ApiProperty({ description: 'Creation time, UTC, to the second', example: '2026-11-21T07:30:00+0000' })
  created!: string;
}

/** The user of a token. A named token identifies its user, but does not show the user's personal data. */
export class CurrentUserReply extends PickType(UserReply, ['id', 'username']) {
  @WithheldField({ type: String, example: 'Ada' })
  first_name!: string | null;

  @WithheldField({ type: String, example: 'Lovelace' })
  last_name!: string | null;

  @WithheldField({ type: String, example: 'ada@example.org' })
  email!: string | null;

  @WithheldField({ type: String, enum: roles, example: 'user' })
  role!: Role | null;

  @WithheldField({ type: Boolean, example: false })
  disabled!: boolean | null;

  @WithheldField({ type: String, example: '2026-11-21T07:30:00+0000' })
  created!: string | null;
}

/** A field of `UserReply` that is null for named tokens. */
function WithheldField(options: ApiPropertyOptions): PropertyDecorator {
  return ApiProperty({
    ...options,
    nullable: true,
    description: 'As in `UserReply`. Null for a named token',
  });
}

export class RegistrationReply extends UserReply {
  @ApiProperty({ description: 'The new user’s main token', example: example.key })
  auth_token!: string;
}

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

const withheld = {
  first_name: null,
  last_name: null,
  email: null,
  role: null,
  disabled: null,
  created: null,
} satisfies Partial<CurrentUserReply>;

export function toCurrentUserReply(user: User, { kind }: Pick<CallerToken, 'kind'>): CurrentUserReply {
  return { ...toUserReply(user), ...(kind === 'named' && withheld) };
}

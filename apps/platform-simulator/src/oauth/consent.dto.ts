import {
  ArrayMaxSize,
  IsArray,
  IsIn,
  IsNotEmpty,
  IsOptional,
  IsString,
  IsUrl,
  MaxLength,
} from 'class-validator';
import { scopes } from '@stream-events/platforms';

const scopeNames = scopes.map(({ scope }) => scope);

// Maximum text length, to bound memory. Longer than any value that the platform issues.
const maxTextLength = 255;

/** Body of `POST /simulator/applications`. An application without a secret is a public client. */
export class RegisterApplicationDto {
  @IsString()
  @IsNotEmpty()
  @MaxLength(maxTextLength)
  client_id!: string;

  @IsOptional()
  @IsString()
  @IsNotEmpty()
  @MaxLength(maxTextLength)
  client_secret?: string;

  @IsOptional()
  @IsString()
  @IsNotEmpty()
  @MaxLength(maxTextLength)
  name?: string;

  @IsOptional()
  @IsArray()
  @ArrayMaxSize(10)
  @IsUrl({ protocols: ['http', 'https'], require_protocol: true, require_tld: false }, { each: true })
  redirect_uris?: string[];
}

/** A user and an application. The application is optional if there is only one. */
export class ConsentDto {
  @IsString()
  @IsNotEmpty()
  login!: string;

  @IsOptional()
  @IsString()
  @IsNotEmpty()
  client_id?: string;
}

/** Body of `POST /simulator/grants`. */
export class GrantDto extends ConsentDto {
  @IsArray()
  @ArrayMaxSize(scopeNames.length)
  @IsIn(scopeNames, { each: true, message: 'scopes contains an unknown scope' })
  scopes!: string[];
}

/** Body of `POST /simulator/device-codes`. `allow` requires a `login`. */
export class DecideDeviceDto {
  @IsString()
  @IsNotEmpty()
  user_code!: string;

  @IsIn(['allow', 'deny'])
  decision!: 'allow' | 'deny';

  @IsOptional()
  @IsString()
  @IsNotEmpty()
  login?: string;
}

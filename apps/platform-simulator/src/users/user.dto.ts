import { Type } from 'class-transformer';
import {
  IsInt,
  IsOptional,
  IsString,
  Matches,
  Max,
  MaxLength,
  Min,
  MinLength,
  ValidateIf,
} from 'class-validator';
import { maxUsersPerRequest } from '../world/user-directory.js';

const loginPattern = /^\w{1,64}$/;
const loginRule = { message: 'login must be 1 to 64 letters, digits, and underscores' };

/** Body of `POST /simulator/users`. Creates one user, or `count` users with generated names. */
export class CreateUsersDto {
  @ValidateIf(({ count }: CreateUsersDto) => count === undefined)
  @Matches(loginPattern, loginRule)
  login?: string;

  @IsOptional()
  @IsString()
  @MinLength(1)
  @MaxLength(64)
  display_name?: string;

  @IsOptional()
  @Matches(/^[0-9A-Za-z_-]{1,64}$/, { message: 'id must be 1 to 64 letters, digits, _, and -' })
  id?: string;

  @ValidateIf(({ count }: CreateUsersDto) => count !== undefined)
  @IsInt()
  @Min(1)
  @Max(maxUsersPerRequest)
  count?: number;
}

/** Body of `PATCH /simulator/users/<id>`. */
export class RenameUserDto {
  @Matches(loginPattern, loginRule)
  login!: string;

  @IsOptional()
  @IsString()
  @MinLength(1)
  @MaxLength(64)
  display_name?: string;
}

/** Query of `GET /simulator/users`. */
export class ListUsersDto {
  @IsOptional()
  @IsString()
  login?: string;

  @IsOptional()
  @Type(() => Number)
  @IsInt()
  @Min(1)
  @Max(1_000)
  first?: number;

  @IsOptional()
  @IsString()
  after?: string;
}

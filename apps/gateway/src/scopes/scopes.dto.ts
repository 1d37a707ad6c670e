import { ApiProperty } from '@nestjs/swagger';
import { IsText } from '@stream-events/contracts';
import { IsBoolean } from 'class-validator';
import { MayBeAbsent, Trimmed } from '../http/json-body.decorator.js';
import type { Scope } from './scope.entity.js';

const exampleScope = 'channel:read:subscriptions';

/** Body of `PATCH /api/v1/platform/scopes/<id>`. Omitted fields keep their values. */
export class ScopeChangesBody {
  @ApiProperty({
    required: false,
    minLength: 1,
    maxLength: 255,
    description: 'The permission’s name on the platform. Trimmed',
    example: exampleScope,
  })
  @Trimmed()
  @MayBeAbsent()
  @IsText(1, 255)
  scope?: string;

  @ApiProperty({ required: false, description: 'Whether users must grant the permission', example: false })
  @MayBeAbsent()
  @IsBoolean({ message: 'must be true or false' })
  required?: boolean;
}

/** Body of `POST /api/v1/platform/scopes` and `PUT /api/v1/platform/scopes/<id>`. */
export class ScopeBody {
  @ApiProperty({
    minLength: 1,
    maxLength: 255,
    description: 'The permission’s name on the platform. Trimmed',
    example: exampleScope,
  })
  @Trimmed()
  @IsText(1, 255)
  scope!: string;

  @ApiProperty({
    required: false,
    default: false,
    description: 'Whether users must grant the permission',
    example: false,
  })
  @MayBeAbsent()
  @IsBoolean({ message: 'must be true or false' })
  required?: boolean;
}

export class ScopeRecord {
  @ApiProperty({
    format: 'uuid',
    description: 'Assigned by the service',
    example: '0bd92a09-59b5-536f-880a-7140fc066e18',
  })
  id!: string;

  @ApiProperty({ description: 'The permission’s name on the platform', example: exampleScope })
  scope!: string;

  @ApiProperty({ description: 'Whether users must grant the permission', example: false })
  required!: boolean;
}

export function toScopeRecord({ id, scope, required }: Scope): ScopeRecord {
  return { id, scope, required };
}

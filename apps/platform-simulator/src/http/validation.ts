import { applyDecorators } from '@nestjs/common';
import { IsInt, IsNotEmpty, IsNumber, IsOptional, IsString, Max, Min } from 'class-validator';

/** A text that is not empty. */
export function IsFilledText(): PropertyDecorator {
  return applyDecorators(IsNotEmpty(), IsString());
}

export function IsOptionalText(): PropertyDecorator {
  return applyDecorators(IsString(), IsOptional());
}

/** An integer from `min` to `max`, both inclusive. */
export function IsOptionalInteger(min: number, max: number): PropertyDecorator {
  return applyDecorators(Max(max), Min(min), IsInt(), IsOptional());
}

/** A number from `min` to `max`, both inclusive. */
export function IsOptionalNumber(min: number, max: number): PropertyDecorator {
  return applyDecorators(Max(max), Min(min), IsNumber(), IsOptional());
}

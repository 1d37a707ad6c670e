import { IsNotEmpty, IsObject, IsString } from 'class-validator';

/** Body of `POST /simulator/occurrences`. */
export class OccurrenceDto {
  @IsString()
  @IsNotEmpty()
  type!: string;

  /** Must name its channel in the same fields as an event of the platform. */
  @IsObject()
  event!: Record<string, unknown>;
}

import { IsNotEmpty, IsObject, IsString } from 'class-validator';

/** Body of `POST /simulator/occurrences`. */
export class OccurrenceDto {
  @IsString()
  @IsNotEmpty()
  type!: string;

  /** The event, which names its channel like an event of the platform. */
  @IsObject()
  event!: Record<string, unknown>;
}

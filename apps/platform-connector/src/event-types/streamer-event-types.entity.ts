import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A streamer with chosen event types. All other streamers are subscribed to every active type. */
@Entity({ name: 'streamer_event_types' })
export class StreamerEventTypes {
  /** The streamer's id on the platform. */
  @PrimaryColumn('text', { name: 'user_id' })
  userId!: string;

  /** The platform's names of the types, such as `stream.online`. */
  @Column('text', { array: true })
  types!: string[];
}

import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A key for hashing the ids of erased users. The keys never change; only their encryption changes with `SECRET_KEY`. */
@Entity({ name: 'user_hash_keys' })
export class UserHashKey {
  @PrimaryColumn('uuid')
  id!: string;

  /** The key at position 0 hashes new ids. The others only recognize users that were erased earlier. */
  @Column('integer', { unique: true })
  position!: number;

  /** The key in base64, encrypted with `SECRET_KEY` and bound to `id`. */
  @Column('text', { name: 'key_encrypted' })
  keyEncrypted!: string;
}

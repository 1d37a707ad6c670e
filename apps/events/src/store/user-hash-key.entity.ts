import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A key that hashes the ids of erased users. Rows stay as they are; only their encryption changes with `SECRET_KEY`. */
@Entity({ name: 'user_hash_keys' })
export class UserHashKey {
  @PrimaryColumn('uuid')
  id!: string;

  /** The key at position 0 hashes new ids. All keys serve to recognize erased users. */
  @Column('integer', { unique: true })
  position!: number;

  /** The key in base64, encrypted with `SECRET_KEY` and bound to the id. */
  @Column('text', { name: 'key_encrypted' })
  keyEncrypted!: string;
}

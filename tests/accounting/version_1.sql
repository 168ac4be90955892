BEGIN TRANSACTION;
CREATE TABLE datasets (
	name TEXT NOT NULL, 
	ceiling FLOAT NOT NULL, 
	unit TEXT NOT NULL, 
	created TEXT NOT NULL, 
	nonce TEXT NOT NULL, 
	hash TEXT NOT NULL, 
	PRIMARY KEY (name)
);
INSERT INTO "datasets" VALUES('default',1.0,'nats','2026-11-22T01:51:55.103527+00:00','b8c2855ca7e4de6a33ddb739478940a3','10c30145cbf5059e41b52ac6749714721d169b03a3a177e3ae52b6685b6d3c2a');
CREATE TABLE entries (
	dataset TEXT NOT NULL, 
	sequence INTEGER NOT NULL, 
	account TEXT NOT NULL, 
	"key" TEXT NOT NULL, 
	kind TEXT NOT NULL, 
	charge FLOAT NOT NULL, 
	unit TEXT NOT NULL, 
	event TEXT NOT NULL, 
	note TEXT NOT NULL, 
	total TEXT NOT NULL, 
	created TEXT NOT NULL, 
	previous TEXT NOT NULL, 
	hash TEXT NOT NULL, 
	PRIMARY KEY (dataset, sequence), 
	UNIQUE (dataset, "key")
);
INSERT INTO "entries" VALUES('default',1,'','s/0','parameters',0.25,'nats','{"backend":"logdet","bound":0.2,"charge":0.25,"confidence":1.0,"key":"s/0","kind":"parameters","n_candidates":128,"n_noisy":4,"n_outputs":5,"provenance":[{"distribution":"pacsklearn","name":"logdet","target":"pacsklearn.noise.logdet:LogdetNoise","version":"0.1.0"}],"unit":"nats"}','','1/4','2026-11-22T01:51:55.130526+00:00','10c30145cbf5059e41b52ac6749714721d169b03a3a177e3ae52b6685b6d3c2a','0e4ce06c3b006a8ad73ded755a15bf6aa63b517ddfdb0ff05003dfe295d29539');
INSERT INTO "entries" VALUES('default',2,'','s/1','sgd-step',0.125,'nats','{"backend":"gradient noise 1.5 (worst-case)","bound":0.125,"charge":0.125,"confidence":1.0,"key":"s/1","kind":"sgd-step","n_candidates":0,"n_noisy":9,"n_outputs":9,"provenance":[],"unit":"nats"}','','3/8','2026-11-22T01:51:55.135042+00:00','0e4ce06c3b006a8ad73ded755a15bf6aa63b517ddfdb0ff05003dfe295d29539','a43544be8f8b1e49ba66dde95ff796e15a7f24566e13d87ea47d4b7e056748e4');
INSERT INTO "entries" VALUES('default',3,'','a3225995ad3b479f9a562cf62305d628','reservation',0.25,'nats','{"backend":"","bound":0.25,"charge":0.25,"confidence":1.0,"key":"a3225995ad3b479f9a562cf62305d628","kind":"reservation","n_candidates":0,"n_noisy":0,"n_outputs":0,"provenance":[],"unit":"nats"}','search','5/8','2026-11-22T01:51:55.138776+00:00','a43544be8f8b1e49ba66dde95ff796e15a7f24566e13d87ea47d4b7e056748e4','b11d356be1cd0f219f0aabc0271abe7ce21163bdc3c5fbf29a9e6270008a0d3b');
INSERT INTO "entries" VALUES('default',4,'a3225995ad3b479f9a562cf62305d628','s/2','responses',0.0625,'nats','{"backend":"diagonal","bound":0.0625,"charge":0.0625,"confidence":1.0,"key":"s/2","kind":"responses","n_candidates":8,"n_noisy":1,"n_outputs":1,"provenance":[],"unit":"nats"}','','1/16','2026-11-22T01:51:55.142951+00:00','b11d356be1cd0f219f0aabc0271abe7ce21163bdc3c5fbf29a9e6270008a0d3b','f116ce01938d91e04ae0f6285d80f3a88eebb455f0bc7616e4411702fbf02347');
INSERT INTO "entries" VALUES('default',5,'','2cd312adb89e4a7f83c38404fe0a8060','reservation',0.0625,'nats','{"backend":"","bound":0.0625,"charge":0.0625,"confidence":1.0,"key":"2cd312adb89e4a7f83c38404fe0a8060","kind":"reservation","n_candidates":0,"n_noisy":0,"n_outputs":0,"provenance":[],"unit":"nats"}','','11/16','2026-11-22T01:51:55.151094+00:00','f116ce01938d91e04ae0f6285d80f3a88eebb455f0bc7616e4411702fbf02347','208845e14ff0c1846c6ccc3a0ea546c095257944f24d32d96d784bbdb925e15f');
INSERT INTO "entries" VALUES('default',6,'2cd312adb89e4a7f83c38404fe0a8060','2cd312adb89e4a7f83c38404fe0a8060/closed','reservation-closed',0.0,'nats','{"backend":"","bound":0.0,"charge":0.0,"confidence":1.0,"key":"2cd312adb89e4a7f83c38404fe0a8060/closed","kind":"reservation-closed","n_candidates":0,"n_noisy":0,"n_outputs":0,"provenance":[],"unit":"nats"}','','0','2026-11-22T01:51:55.159131+00:00','208845e14ff0c1846c6ccc3a0ea546c095257944f24d32d96d784bbdb925e15f','ed0805074d1c8d6d31415df5fbaef11850f61b6b0f9f62b0d24d23133de6688a');
INSERT INTO "entries" VALUES('default',7,'','2cd312adb89e4a7f83c38404fe0a8060/returned','reservation-returned',-0.0625,'nats','{"backend":"","bound":0.0,"charge":-0.0625,"confidence":1.0,"key":"2cd312adb89e4a7f83c38404fe0a8060/returned","kind":"reservation-returned","n_candidates":0,"n_noisy":0,"n_outputs":0,"provenance":[],"unit":"nats"}','','5/8','2026-11-22T01:51:55.159554+00:00','ed0805074d1c8d6d31415df5fbaef11850f61b6b0f9f62b0d24d23133de6688a','aea5386c3bbcf3f5567f383a73cfa6ab217aba284fedfe4e6121ce320497284e');
CREATE INDEX entries_by_account ON entries (dataset, account, sequence);
CREATE TRIGGER datasets_no_update BEFORE UPDATE ON datasets BEGIN SELECT RAISE(ABORT, 'a ledger is append-only'); END;
CREATE TRIGGER datasets_no_delete BEFORE DELETE ON datasets BEGIN SELECT RAISE(ABORT, 'a ledger is append-only'); END;
CREATE TRIGGER datasets_no_replace BEFORE INSERT ON datasets WHEN EXISTS (SELECT 1 FROM datasets WHERE name = NEW.name) BEGIN SELECT RAISE(ABORT, 'a ledger is founded once'); END;
CREATE TRIGGER entries_no_update BEFORE UPDATE ON entries BEGIN SELECT RAISE(ABORT, 'a ledger is append-only'); END;
CREATE TRIGGER entries_no_delete BEFORE DELETE ON entries BEGIN SELECT RAISE(ABORT, 'a ledger is append-only'); END;
CREATE TRIGGER entries_no_replace BEFORE INSERT ON entries WHEN EXISTS (SELECT 1 FROM entries WHERE dataset = NEW.dataset AND key = NEW.key) OR NEW.sequence <> (SELECT coalesce(max(sequence), 0) + 1 FROM entries WHERE dataset = NEW.dataset) BEGIN SELECT RAISE(ABORT, 'a ledger only grows at its end'); END;
COMMIT;
PRAGMA application_id = 1346454321;
PRAGMA user_version = 1;

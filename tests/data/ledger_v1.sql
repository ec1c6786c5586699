BEGIN TRANSACTION;
CREATE TABLE hearings (
    key TEXT PRIMARY KEY, question TEXT NOT NULL, caption TEXT NOT NULL, repeat INTEGER NOT NULL,
    reason TEXT NOT NULL, detail TEXT NOT NULL, reply TEXT, usage TEXT, raw TEXT NOT NULL);
INSERT INTO "hearings" VALUES('b3285cbcb8e12dbfbbd7c6897fac872c844317a81199c2de37147073d93ffcbc','events','',0,'','','{"events": [{"label": "Meow", "onset_s": 0.0, "offset_s": 0.1, "confidence": 0.9}, {"label": "Bark", "onset_s": 0.3, "offset_s": 0.4, "confidence": 0.9}], "duration_s": 0.5}','{}','{"events": [{"label": "Meow", "onset_s": 0.0, "offset_s": 0.1, "confidence": 0.9}, {"label": "Bark", "onset_s": 0.3, "offset_s": 0.4, "confidence": 0.9}], "duration_s": 0.5}');
INSERT INTO "hearings" VALUES('20472b61dcc511dc418e8c599d4aa52de947e32285fc78f2279dafc13af20fac','events','',0,'','','{"events": [{"label": "Bark", "onset_s": 0.0, "offset_s": 0.1, "confidence": 0.9}, {"label": "Meow", "onset_s": 0.3, "offset_s": 0.4, "confidence": 0.9}], "duration_s": 0.5}','{}','{"events": [{"label": "Bark", "onset_s": 0.0, "offset_s": 0.1, "confidence": 0.9}, {"label": "Meow", "onset_s": 0.3, "offset_s": 0.4, "confidence": 0.9}], "duration_s": 0.5}');
INSERT INTO "hearings" VALUES('1c056e7a71c2a56201b75a7840159193e6180ca511e4189854bb17ed5e64174d','events','',0,'','','{"events": [{"label": "Bark", "onset_s": 0.0, "offset_s": 0.1, "confidence": 0.9}, {"label": "Meow", "onset_s": 0.3, "offset_s": 0.4, "confidence": 0.9}], "duration_s": 0.5}','{}','{"events": [{"label": "Bark", "onset_s": 0.0, "offset_s": 0.1, "confidence": 0.9}, {"label": "Meow", "onset_s": 0.3, "offset_s": 0.4, "confidence": 0.9}], "duration_s": 0.5}');
INSERT INTO "hearings" VALUES('d36784ad072b6fc66384e33ce40c3f2f5c3527c6bb6731eb3b892b50038c21c9','events','',0,'refused','no',NULL,NULL,'');
CREATE TABLE item_hearings (
    item_id INTEGER NOT NULL, side TEXT NOT NULL, repeat INTEGER NOT NULL,
    key TEXT, reason TEXT NOT NULL, detail TEXT NOT NULL,
    PRIMARY KEY (item_id, side, repeat)) WITHOUT ROWID;
INSERT INTO "item_hearings" VALUES(1,'clip',0,'20472b61dcc511dc418e8c599d4aa52de947e32285fc78f2279dafc13af20fac','','');
INSERT INTO "item_hearings" VALUES(2,'clip',0,'1c056e7a71c2a56201b75a7840159193e6180ca511e4189854bb17ed5e64174d','','');
INSERT INTO "item_hearings" VALUES(3,'clip',0,'b3285cbcb8e12dbfbbd7c6897fac872c844317a81199c2de37147073d93ffcbc','','');
INSERT INTO "item_hearings" VALUES(4,'clip',0,'d36784ad072b6fc66384e33ce40c3f2f5c3527c6bb6731eb3b892b50038c21c9','refused','no');
CREATE TABLE items (
    item_id INTEGER PRIMARY KEY, system TEXT NOT NULL, sample_id TEXT NOT NULL, row TEXT NOT NULL,
    file_size INTEGER, file_mtime_ns INTEGER, file_hash TEXT, pcm_hash TEXT, facts TEXT,
    UNIQUE (system, sample_id));
INSERT INTO "items" VALUES(1,'ours','0','{"system": "ours", "sample_id": "0", "audio": "/clips/0.wav", "caption": "A dog barks followed by a cat meowing", "reversed_caption": "", "first": "", "second": "", "pair_id": "", "row": 1}',16044,1795985836861462958,'fa03f8d013bec2362e09a07d3c34e4ac59db282ca422958e329fc3e8e50f74f0','47165c26d37e9c7f6f1e1bbeddd9dd3718f427ec9868b0d7f6bc3215989007b4','{"duration_s": 0.5, "rate_hz": 16000, "channels": 1, "warnings": []}');
INSERT INTO "items" VALUES(2,'ours','1','{"system": "ours", "sample_id": "1", "audio": "/clips/1.wav", "caption": "A dog barks followed by a cat meowing", "reversed_caption": "", "first": "", "second": "", "pair_id": "", "row": 2}',16044,1795985836863093932,'600f54a5449f1d1a3f6daee63ea982ec7b79051d529b25670656b4d7be30835d','efa793b5c60688e9bb34b81e0bbb3618f73af35a0deb4c06c295ddf538ac0505','{"duration_s": 0.5, "rate_hz": 16000, "channels": 1, "warnings": []}');
INSERT INTO "items" VALUES(3,'ours','2','{"system": "ours", "sample_id": "2", "audio": "/clips/2.wav", "caption": "A dog barks followed by a cat meowing", "reversed_caption": "", "first": "", "second": "", "pair_id": "", "row": 3}',16044,1795985836864384391,'6e5cd6089d59380cfdacd388ff5386ad02f26401c00b0e5efbe276ddda40c957','87b1b3a27ee794a755b20d97bffef29de0409e1aee05ad3a2d1c66fbfa3c35c8','{"duration_s": 0.5, "rate_hz": 16000, "channels": 1, "warnings": []}');
INSERT INTO "items" VALUES(4,'ours','3','{"system": "ours", "sample_id": "3", "audio": "/clips/3.wav", "caption": "A dog barks followed by a cat meowing", "reversed_caption": "", "first": "", "second": "", "pair_id": "", "row": 4}',16044,1795985836865713053,'c2ff692795daf09ff05ae5273290bfde706652fe24cfc94aea9a21467528a99a','1d39138e8f007f80f3042aa702628e2d476a199109e88baef29b32b7e360a67f','{"duration_s": 0.5, "rate_hz": 16000, "channels": 1, "warnings": []}');
INSERT INTO "items" VALUES(5,'base','0','{"system": "base", "sample_id": "0", "audio": "/clips/0.wav", "caption": "a dog barking", "reversed_caption": "", "first": "", "second": "", "pair_id": "", "row": 5}',NULL,NULL,NULL,NULL,NULL);
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL);
INSERT INTO "meta" VALUES('task','"order"');
INSERT INTO "meta" VALUES('seed','0');
INSERT INTO "meta" VALUES('listener','{"detector": true, "known_labels": [], "name": "scripted", "resolution_s": 0.1, "settings": {"resolution_s": 0.1}, "version": "2e7d907365e2fb03"}');
INSERT INTO "meta" VALUES('questions','{"events": "d7a2b38a130d3a5a2d1bedfc09637138e83723c24a1a9a06fd49fa06213eaa0c"}');
INSERT INTO "meta" VALUES('started','"2026-11-29"');
INSERT INTO "meta" VALUES('repeats','1');
INSERT INTO "meta" VALUES('command','""');
INSERT INTO "meta" VALUES('notes','["the systems have different samples, 1 of 4 in common: ours 4, base 1", "base has no clip of 1, 2, 3"]');
INSERT INTO "meta" VALUES('measured','""');
INSERT INTO "meta" VALUES('versions','{"earwitness": "0.1.0", "libsndfile": "1.2.2", "numpy": "2.4.6", "onnxruntime": "1.32.0", "python": "3.11.7", "scipy": "1.17.1", "soundfile": "0.14.0", "soxr": "1.1.0"}');
COMMIT;
